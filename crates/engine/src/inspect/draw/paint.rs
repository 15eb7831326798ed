//! Colours.

/// How a drawing looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Whether the terminal's colours are used.
    pub colour: bool,
}

/// The few colours that drawings use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Colour {
    Bold,
    Dim,
    Green,
    Blue,
    Yellow,
    Magenta,
    Red,
}

impl Style {
    /// The text in a colour; unchanged without colours.
    pub(crate) fn paint(self, colour: Colour, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match colour {
            Colour::Bold => "1",
            Colour::Dim => "2",
            Colour::Green => "32",
            Colour::Blue => "34",
            Colour::Yellow => "33",
            Colour::Magenta => "35",
            Colour::Red => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
