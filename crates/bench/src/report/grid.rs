//! Columns of text, aligned.

use std::fmt;

/// Rows under titles; the first column is left-aligned, the others are right-aligned.
pub struct Grid {
    rows: Vec<Vec<String>>,
    left_from: usize,
}

impl Grid {
    /// A grid with these titles.
    pub fn new(titles: &[&str]) -> Self {
        let titles = titles.iter().map(|title| title.to_string()).collect();
        Self {
            rows: vec![titles],
            left_from: usize::MAX,
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The same with columns from `column` on left-aligned.
    pub fn left_from(mut self, column: usize) -> Self {
        self.left_from = column;
        self
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            let mut line = String::from("  ");
            for (column, cell) in row.iter().enumerate() {
                let width = self.width(column);
                line += &if column == 0 || column >= self.left_from {
                    format!("{cell:<width$}   ")
                } else {
                    format!("{cell:>width$}   ")
                };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
