//! Which tools a run knows and where they lead, so that those whose targets are shut can be taken out of a model's list.
//! What is shut it does not know: that is the breakers' to say.

use super::AgentRun;
use crate::domain::ids::{SafeText, TargetName};

/// Pairs of a tool and a target that are remembered; the one used longest ago goes first.
pub const TOOL_TARGETS_MAX: usize = 32;
/// The longest name of a tool that is followed, in bytes. A name that is cut names no tool.
const TOOL_BYTES_MAX: usize = 128;

/// Where a tool leads.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ToolTarget {
    /// The tool as the model knows it.
    pub tool: SafeText,
    /// What its calls call.
    pub target: TargetName,
    /// The credential of its last call, hashed; 0 for none.
    pub credential: u64,
}

impl ToolTarget {
    /// None where the name could not be told as it is.
    fn of(tool: &str, target: TargetName, credential: u64) -> Option<Self> {
        let name = SafeText::cut(tool, TOOL_BYTES_MAX);
        (name.as_str() == tool).then_some(Self { tool: name, target, credential })
    }
}

impl AgentRun {
    /// A call of a tool is asked for.
    pub fn used(&mut self, tool: &str, target: &TargetName, credential: u64) {
        let is_same = |known: &ToolTarget| known.tool.as_str() == tool && known.target == *target;
        if let Some(at) = self.tool_targets.iter().rposition(is_same) {
            let later = self.tool_targets.get_mut(at..).unwrap_or_default();
            later.rotate_left(1);
            if let Some(last) = later.last_mut() {
                last.credential = credential;
            }
            return;
        }
        let Some(new) = ToolTarget::of(tool, target.clone(), credential) else { return };
        if self.tool_targets.len() >= TOOL_TARGETS_MAX {
            self.tool_targets.remove(0);
        }
        self.tool_targets.reserve_exact(1); // most runs use few tools
        self.tool_targets.push(new);
    }

    /// Where its tools lead: those that were used, the latest first, then those that were only declared. A declared
    /// target stands for all that the tool was used with.
    #[must_use]
    pub fn tool_targets(&self) -> Vec<ToolTarget> {
        let declared = |tool: &str| {
            let known = self.policy.tools.get(tool).filter(|known| *known.target != *tool)?;
            TargetName::parse(&known.target).ok()
        };
        let mut found: Vec<ToolTarget> = Vec::with_capacity(self.tool_targets.len() + self.policy.tools.len());
        for used in self.tool_targets.iter().rev() {
            match declared(used.tool.as_str()) {
                None => found.push(used.clone()),
                Some(_) if found.iter().any(|other| other.tool == used.tool) => {}
                Some(target) => found.push(ToolTarget { target, ..used.clone() }),
            }
        }
        for (tool, known) in &self.policy.tools {
            if !found.iter().any(|other| other.tool.as_str() == &**tool) {
                found.extend(TargetName::parse(&known.target).ok().and_then(|target| ToolTarget::of(tool, target, 0)));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::HashKey;
    use crate::domain::session::run::{DeclaredTool, RunPolicy};
    use crate::domain::time::Timestamp;
    use crate::domain::tool::Tool;

    fn run(declared: &[(&str, &str)]) -> AgentRun {
        let tool = |(name, target): &(&str, &str)| {
            (Box::from(*name), DeclaredTool { tool: Tool::unknown(), target: Box::from(*target) })
        };
        let policy = RunPolicy { tools: declared.iter().map(tool).collect(), ..RunPolicy::default() };
        AgentRun::new(policy, HashKey([0; 16]), Timestamp(0))
    }

    fn used(run: &mut AgentRun, tool: &str, target: &str, credential: u64) {
        run.used(tool, &TargetName::parse(target).unwrap(), credential);
    }

    fn shown(run: &AgentRun) -> Vec<String> {
        let known = run.tool_targets();
        known.iter().map(|k| format!("{} {} {}", k.tool.as_str(), k.target.as_str(), k.credential)).collect()
    }

    #[test]
    fn the_tool_used_last_comes_first_with_its_last_credential() {
        let mut run = run(&[]);
        used(&mut run, "search", "search", 1);
        used(&mut run, "fetch", "a.test", 1);
        used(&mut run, "fetch", "b.test", 1);
        used(&mut run, "search", "search", 2);
        assert_eq!(shown(&run), ["search search 2", "fetch b.test 1", "fetch a.test 1"]);
    }

    #[test]
    fn a_declared_target_stands_for_those_that_were_used_and_a_declared_tool_is_known_before_it_is() {
        let mut run = run(&[("charge", "POST /v2/charge"), ("mail", "smtp"), ("plain", "plain"), ("void", "")]);
        used(&mut run, "charge", "charge", 3);
        used(&mut run, "charge", "charge:retry", 4);
        used(&mut run, "plain", "somewhere", 5);
        assert_eq!(shown(&run), ["plain somewhere 5", "charge POST /v2/charge 4", "mail smtp 0"]);
    }

    #[test]
    fn what_is_remembered_is_bounded_and_a_name_that_would_be_changed_is_not_told() {
        let mut run = run(&[]);
        for odd in ["a\nb", "x\u{202e}y", &"n".repeat(TOOL_BYTES_MAX + 1)] {
            used(&mut run, odd, "t", 0);
        }
        assert_eq!(shown(&run), Vec::<String>::new());
        for n in 0..100 {
            used(&mut run, &format!("tool{n}"), "t", 0);
        }
        let shown = shown(&run);
        assert_eq!((shown.len(), shown[0].as_str(), shown[31].as_str()), (32, "tool99 t 0", "tool68 t 0"));
    }
}
