//! Text into markup: what comes from a recording is escaped, whatever it holds; what is written here is not.

use std::fmt::{Display, Write as _};

/// A page, or a part of one, as it grows.
#[derive(Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Markup of ours.
    pub(super) fn raw(&mut self, markup: &str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// A text of anybody's, for content and for attributes in quotes.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
        self
    }

    /// A number.
    pub(super) fn number(&mut self, number: impl Display) -> &mut Self {
        let _ = write!(self.0, "{number}"); // writing to a String cannot fail
        self
    }

    /// An element with nothing but a text in it.
    pub(super) fn element(&mut self, name: &str, text: &str) -> &mut Self {
        self.raw("<").raw(name).raw(">").text(text).raw("</").raw(name).raw(">")
    }

    /// The cells of a table's head; those from `numbers_from` on stand over numbers.
    pub(super) fn head(&mut self, cells: &[&str], numbers_from: usize) -> &mut Self {
        self.raw("<tr>");
        for (at, cell) in cells.iter().enumerate() {
            self.raw(if at >= numbers_from { "<th class=\"n\">" } else { "<th>" }).text(cell).raw("</th>");
        }
        self.raw("</tr>\n")
    }

    /// A cell of a table with a text.
    pub(super) fn cell(&mut self, text: &str) -> &mut Self {
        self.raw("<td class=\"name\">").text(text).raw("</td>")
    }

    /// A cell of a table with a number.
    pub(super) fn figure(&mut self, number: u64) -> &mut Self {
        self.raw("<td class=\"n\">").number(number).raw("</td>")
    }

    /// The whole of it.
    pub(super) fn into_string(self) -> String {
        self.0
    }
}
