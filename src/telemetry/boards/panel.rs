//! What a board is made of. Says nothing of JSON.

/// One board.
#[derive(Clone, Debug)]
pub struct Board {
    /// Its file, and with `tripnote-` before it its uid.
    pub slug: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What one opens it for.
    pub asks: &'static str,
    /// Its variables beside data source, job and instance.
    pub variables: &'static [Variable],
    /// Its rows, from the symptom to the cause.
    pub rows: Vec<Row>,
}

impl Board {
    /// Its panels in order, without the titles of rows.
    pub fn panels(&self) -> impl Iterator<Item = &Panel> {
        self.rows.iter().flat_map(|row| &row.panels)
    }
}

/// Panels under one heading.
#[derive(Clone, Debug)]
pub struct Row {
    /// The heading.
    pub title: &'static str,
    /// The panels, from the left; the next line begins when 24 columns are full.
    pub panels: Vec<Panel>,
}

impl Row {
    pub(super) fn new(title: &'static str, panels: impl Into<Vec<Panel>>) -> Self {
        Self { title, panels: panels.into() }
    }
}

/// A variable of a board.
#[derive(Clone, Copy, Debug)]
pub enum Variable {
    /// Some or all values of a label.
    Some {
        /// Its name, which is that of the label.
        name: &'static str,
        /// The metric that has the label.
        of: &'static str,
    },
    /// One value of a label.
    One {
        /// Its name.
        name: &'static str,
        /// What stands before the choice.
        title: &'static str,
        /// The metric that has the label.
        of: &'static str,
        /// The label.
        label: &'static str,
        /// Whether the last value is the first choice, else the first.
        is_last: bool,
    },
    /// One of fixed values.
    Fixed {
        /// Its name.
        name: &'static str,
        /// What stands before the choice.
        title: &'static str,
        /// The values; the first is the first choice.
        values: &'static [&'static str],
    },
}

impl Variable {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Some { name, .. } | Self::One { name, .. } | Self::Fixed { name, .. } => name,
        }
    }
}

/// How a panel is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One number, at the end of the time.
    Stat,
    /// Lines over time.
    Lines,
    /// Areas over time, one upon the other.
    Areas,
    /// A bar a series, at the end of the time.
    Bars,
    /// Rows of labels and numbers, at the end of the time.
    Table,
    /// States over time.
    Timeline,
    /// Words.
    Text,
}

/// A question to Prometheus.
#[derive(Clone, Debug)]
pub struct Query {
    /// The question, with its matchers written out.
    pub expr: String,
    /// How its series are called.
    pub legend: &'static str,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// What stands above it.
    pub title: &'static str,
    /// The unit, as Grafana calls it.
    pub unit: &'static str,
}

/// A number with its word and colour.
pub(super) type Word = (f64, &'static str, &'static str);

/// One panel.
#[derive(Clone, Debug)]
pub struct Panel {
    /// How it is drawn.
    pub kind: Kind,
    /// Its title.
    pub title: &'static str,
    /// The question that it answers.
    pub asks: &'static str,
    /// What it asks Prometheus.
    pub queries: Vec<Query>,
    /// The unit of its numbers, as Grafana calls it.
    pub unit: &'static str,
    /// What stands where nothing is.
    pub empty: &'static str,
    /// From which number on a number is good, odd or bad; the first is for all below the second.
    pub steps: Vec<(f64, &'static str)>,
    /// Words for numbers; in a table, for those of its first column.
    pub words: Vec<Word>,
    /// Colours of series by name.
    pub colours: &'static [(&'static str, &'static str)],
    /// Columns of a table: first those of labels, then one a query.
    pub labels: &'static [&'static str],
    /// One a query.
    pub columns: Vec<Column>,
    /// The board that tells more of what was clicked at, with the label that goes along.
    pub more: Option<(&'static str, &'static str)>,
    /// Of 24.
    pub width: u32,
    /// In lines of Grafana's grid.
    pub height: u32,
}

/// The matchers that `@` and its kin stand for; longer ones first, for one may begin as another does.
const MATCHERS: [(&str, &str); 4] = [
    ("@part", r#"@, breaker=~"$breaker", signal=~"$signal", variant=~"$variant""#),
    ("@told", r#"@, signal=~"$signal", variant=~"$variant""#),
    ("@breaker", r#"@, breaker=~"$breaker""#),
    ("@", r#"job=~"$job", instance=~"$instance""#),
];

/// An expression with its matchers written out.
pub(super) fn written(expr: &str) -> String {
    MATCHERS.iter().fold(expr.to_owned(), |expr, (short, long)| expr.replace(short, long))
}

impl Panel {
    fn new(kind: Kind, title: &'static str, asks: &'static str) -> Self {
        let (width, height) = match kind {
            Kind::Stat => (3, 4),
            Kind::Text => (24, 4),
            Kind::Table | Kind::Lines | Kind::Areas | Kind::Bars | Kind::Timeline => (12, 8),
        };
        Self {
            kind,
            title,
            asks,
            queries: vec![],
            unit: "short",
            empty: "nothing yet",
            steps: vec![],
            words: vec![],
            colours: &[],
            labels: &[],
            columns: vec![],
            more: None,
            width,
            height,
        }
    }

    pub(super) fn stat(title: &'static str, asks: &'static str, expr: &str) -> Self {
        Self::new(Kind::Stat, title, asks).ask(expr, "")
    }

    pub(super) fn lines(title: &'static str, asks: &'static str) -> Self {
        Self::new(Kind::Lines, title, asks)
    }

    pub(super) fn areas(title: &'static str, asks: &'static str) -> Self {
        Self::new(Kind::Areas, title, asks)
    }

    pub(super) fn bars(title: &'static str, asks: &'static str) -> Self {
        Self::new(Kind::Bars, title, asks)
    }

    pub(super) fn timeline(title: &'static str, asks: &'static str) -> Self {
        Self::new(Kind::Timeline, title, asks)
    }

    pub(super) fn table(title: &'static str, asks: &'static str, labels: &'static [&'static str]) -> Self {
        Self { labels, ..Self::new(Kind::Table, title, asks) }
    }

    /// Words alone, which are also what it says of itself.
    pub(super) fn text(title: &'static str, says: &'static str) -> Self {
        Self::new(Kind::Text, title, says)
    }

    pub(super) fn ask(mut self, expr: &str, legend: &'static str) -> Self {
        self.queries.push(Query { expr: written(expr), legend });
        self
    }

    pub(super) fn column(mut self, title: &'static str, unit: &'static str, expr: &str) -> Self {
        self.columns.push(Column { title, unit });
        self.ask(expr, "")
    }

    pub(super) const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    pub(super) const fn empty(mut self, empty: &'static str) -> Self {
        self.empty = empty;
        self
    }

    /// Good below the first number, odd from there, bad from the second.
    pub(super) fn bad_above(mut self, odd: f64, bad: f64) -> Self {
        self.steps = vec![(0.0, "green"), (odd, "orange"), (bad, "red")];
        self
    }

    /// Bad below the first number, odd below the second, good from there.
    pub(super) fn bad_below(mut self, odd: f64, good: f64) -> Self {
        self.steps = vec![(0.0, "red"), (odd, "orange"), (good, "green")];
        self
    }

    /// Bad from the number on.
    pub(super) fn bad_from(mut self, bad: f64) -> Self {
        self.steps = vec![(0.0, "green"), (bad, "red")];
        self
    }

    /// Good from the number on.
    pub(super) fn good_from(mut self, good: f64) -> Self {
        self.steps = vec![(0.0, "red"), (good, "green")];
        self
    }

    /// Never good or bad.
    pub(super) fn plain(mut self) -> Self {
        self.steps = vec![(0.0, "blue")];
        self
    }

    pub(super) fn words(mut self, words: &[Word]) -> Self {
        self.words = words.to_vec();
        self
    }

    pub(super) const fn colours(mut self, colours: &'static [(&'static str, &'static str)]) -> Self {
        self.colours = colours;
        self
    }

    pub(super) const fn more(mut self, board: &'static str, label: &'static str) -> Self {
        self.more = Some((board, label));
        self
    }

    pub(super) const fn size(mut self, width: u32, height: u32) -> Self {
        (self.width, self.height) = (width, height);
        self
    }
}
