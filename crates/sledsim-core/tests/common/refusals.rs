//! Tables of refusals: what is given, and the words of the message.

use sledsim_base::error::Result;

/// Gives what each row of `table` says to `give`, and checks that it is refused in one line with
/// the words of the row.
///
/// A row is a line, `GIVEN => WORDS | WORDS`. In GIVEN, ` ; ` ends a line. Words that begin with
/// a colon follow the name of the file, with which the message begins. A line that is indented by
/// eight blanks goes on with the row above it.
pub fn refuse(table: &str, mut give: impl FnMut(&str) -> Result<()>) {
    let mut rows: Vec<String> = Vec::new();
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        match rows.last_mut() {
            Some(row) if line.starts_with("        ") => *row += &format!(" {}", line.trim()),
            _ => rows.push(line.trim().to_owned()),
        }
    }
    let wrong = rows.iter().filter_map(|row| {
        let (given, words) = row.split_once("=>").expect(row);
        let message = match give(&given.trim().replace(" ; ", "\n")) {
            Ok(()) => "taken without a message".to_owned(),
            Err(error) => error.to_string(),
        };
        let behind_file = message.find(':').filter(|&at| at > 0).map_or("", |at| &message[at..]);
        let has = |word: &str| match word.starts_with(':') {
            true => behind_file.starts_with(word),
            false => message.contains(word),
        };
        let is_as_told = words.split(" | ").all(|word| has(word.trim()));
        (!is_as_told || message.contains('\n')).then(|| format!("{row}\n    {message}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(!rows.is_empty() && wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `text` with a part replaced, given as `PART -> NEW`.
pub fn replaced(text: &str, change: &str) -> String {
    let (part, new) = change.split_once("->").expect(change);
    assert!(text.contains(part.trim_end()), "{change}");
    text.replacen(part.trim_end(), new.trim_start(), 1)
}
