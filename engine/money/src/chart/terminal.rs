//! Bars and lines of characters.

/// What a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// Blocks, in eighths.
    Blocks,
    /// Plain ASCII: a dumb terminal, or a locale without UTF-8.
    Ascii,
}

const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PLAIN: [char; 5] = ['_', '.', '-', '=', '#'];

/// A share of `width` characters; anything above nothing shows. What is no number is empty.
pub fn bar(share: f64, width: usize, glyphs: Glyphs) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    match glyphs {
        Glyphs::Blocks => {
            let mut eighths = (share * width as f64 * 8.0).round() as usize;
            if share > 0.0 {
                eighths = eighths.max(1);
            }
            let mut out: String = std::iter::repeat_n('█', eighths / 8).collect();
            if let Some(rest) = (eighths % 8).checked_sub(1) {
                out.push(EIGHTHS[rest]);
            }
            out
        }
        Glyphs::Ascii => {
            let full = (share * width as f64).round() as usize;
            "#".repeat(if share > 0.0 { full.max(1) } else { 0 })
        }
    }
}

/// Values over time in one character each, from nothing to the highest. Unknown is a space.
pub fn sparkline(values: &[Option<f64>], glyphs: Glyphs) -> String {
    let known = values.iter().flatten().copied().filter(|value| value.is_finite());
    let most = known.fold(0.0, f64::max);
    let level = |value: f64, count: usize| {
        let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
        ((share * (count - 1) as f64).round() as usize).min(count - 1)
    };
    let one = |value: &Option<f64>| match (value.filter(|value| value.is_finite()), glyphs) {
        (None, _) => ' ',
        (Some(value), Glyphs::Blocks) => LEVELS[level(value, LEVELS.len())],
        (Some(value), Glyphs::Ascii) => PLAIN[level(value, PLAIN.len())],
    };
    values.iter().map(one).collect()
}
