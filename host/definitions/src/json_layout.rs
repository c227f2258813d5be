//! Indents JSON text without changing any token of it.

/// Indents JSON text for people. Every token stays as it is: numbers, escapes and order.
pub fn indent_json(json: &str) -> String {
    let mut layout = Layout { text: String::with_capacity(json.len() * 2), depth: 0 };
    let (mut in_string, mut escaped, mut opened) = (false, false, false);
    for character in json.chars() {
        if in_string {
            layout.text.push(character);
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        if character.is_ascii_whitespace() {
            continue;
        }
        let closes = matches!(character, '}' | ']');
        // An empty object or list stays on one line.
        if opened && !closes {
            layout.open();
        } else if closes && !opened {
            layout.close();
        }
        opened = matches!(character, '{' | '[');
        layout.text.push(character);
        match character {
            '"' => in_string = true,
            ':' => layout.text.push(' '),
            ',' => layout.line(),
            _ => {}
        }
    }
    layout.text
}

struct Layout {
    text: String,
    depth: usize,
}

impl Layout {
    fn open(&mut self) {
        self.depth += 1;
        self.line();
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line();
    }

    fn line(&mut self) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", self.depth));
    }
}
