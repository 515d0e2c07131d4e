//! YAML text → documents in which every value knows its place.
//!
//! serde stops at the first error; a person wants all of them. So the text becomes a small tree
//! first, and the readers walk the tree and collect.

use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span, quote};
use crate::variables::Given;
use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Deeper than any spec, shallow enough for recursion over the tree.
pub(crate) const MAX_DEPTH: usize = 64;
/// Values in one file, aliases counted as often as they are used.
pub(crate) const MAX_NODES: usize = 100_000;
/// Problems told about one file: nobody reads more, and a hostile file may have a hundred thousand.
pub(crate) const MAX_PROBLEMS: usize = 100;

/// A value and its place.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: Kind,
    /// Which variables its text came from, if any.
    pub(crate) given: Option<Arc<Given>>,
    /// This value and all below it; long texts count for several.
    size: usize,
    /// Levels in it.
    depth: usize,
}

#[derive(Clone)]
pub(crate) enum Kind {
    Scalar { text: String, style: Style },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// How a scalar was written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Without quotes: a number, a flag or nothing, if it looks like one.
    Plain,
    /// Text, whatever it looks like.
    Quoted,
    /// From a variable: a number or a flag where the field wants one. Never nothing.
    Variable,
}

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: Node,
}

impl Node {
    /// Whether nothing was written: empty, `~` or `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, style: Style::Plain }
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        match &self.kind {
            Kind::Map(entries) => entries.iter().find(|entry| entry.key == key),
            Kind::List(_) | Kind::Scalar { .. } => None,
        }
    }

    /// The text of a scalar under a key.
    pub(crate) fn text_of(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.value.kind {
            Kind::Scalar { text, .. } => Some(text),
            Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// What it is, for messages.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            _ if self.is_null() => "nothing".into(),
            Kind::Scalar { text, .. } => format!("`{}`", quote(text)),
            Kind::List(_) => "a list".into(),
            Kind::Map(_) => "a mapping".into(),
        }
    }
}

/// What a text holds.
pub(crate) struct Parsed {
    /// The documents that could be read, in order; empty ones left out.
    pub(crate) documents: Vec<Node>,
    pub(crate) problems: Vec<Diagnostic>,
    /// The source, which now knows what not to show.
    pub(crate) source: Source,
}

/// Reads every document. A broken document does not hide the ones after it.
pub(crate) fn parse(source: Source) -> Parsed {
    let options = granit_parser::options! {
        emit_comments: false,
        disallow_directives: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let text = source.text().to_owned();
    let mut parser = Parser::new_from_str_with_options(&text, options);
    let mut builder = Builder::default();
    let mut stops = Vec::new();
    let mut bombed = false;
    while let Some(event) = parser.next_event() {
        let stop = match event {
            Ok((event, span)) => match builder.eat(event, &span) {
                Ok(()) => continue,
                // A bomb is refused as a whole: the next document would be one as well.
                Err(bomb) => {
                    builder.problems.push(bomb);
                    bombed = true;
                    break;
                }
            },
            Err(error) => error,
        };
        let at = point(stop.marker());
        stops.push((at, describe(stop.kind(), stop.info())));
        builder.abandon();
        if stops.len() >= 20 || !matches!(parser.proceed_next_document(), Ok(true)) {
            break;
        }
    }
    let whole = stops.is_empty() && !bombed;
    let source = hide_user_data(source, builder.secret, whole);
    let problems = builder.problems.into_iter();
    let stops = stops.into_iter().map(|(at, (what, hint))| (at, what, Some(hint)));
    let problems = problems
        .chain(stops)
        .take(MAX_PROBLEMS)
        .map(|(at, what, hint)| Diagnostic::at(&source, at, what, hint))
        .collect();
    Parsed { documents: builder.documents, problems, source }
}

/// What the parser says, in our words where a person needs better ones.
fn describe(kind: &ErrorKind, info: String) -> (String, String) {
    let kind = format!("{kind:?}");
    if kind.contains("Nesting") || kind.contains("Recursion") {
        return (
            format!("nested deeper than {MAX_DEPTH} levels"),
            "a spec needs fewer than ten; is this the right file?".into(),
        );
    }
    let hint = if info.contains("tab") {
        "indent with spaces: YAML does not allow tabs"
    } else if kind.contains("UnknownAnchor") {
        "put text that begins with `*` in quotes; an alias needs an anchor `&name` before it"
    } else {
        "check indentation, brackets and quotes here and on the line above"
    };
    (format!("not valid YAML: {info}"), hint.into())
}

/// User data may hold secrets, and every diagnostic shows a line of the file. Where the file could
/// not be read to its end we do not know what belongs to user data: then nothing after the word is
/// shown.
fn hide_user_data(source: Source, mut secret: Vec<Range<usize>>, whole: bool) -> Source {
    if !whole && let Some(at) = source.text().find("userData") {
        secret.push(at + "userData".len()..source.text().len());
    }
    source.with_secrets(secret)
}

fn point(marker: &Marker) -> Span {
    Span {
        line: narrow(marker.line()).max(1),
        column: narrow(marker.col()) + 1,
        length: 1,
        document: 0,
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX - 1)
}

fn spanned(span: &granit_parser::Span) -> Span {
    let length = if span.start.line() == span.end.line() {
        narrow(span.end.col().saturating_sub(span.start.col()))
    } else {
        // To the end of the line; the renderer cuts it there.
        u32::MAX
    };
    Span { length: length.max(1), ..point(&span.start) }
}

type Problem = (Span, String, Option<String>);

/// A collection that is not closed yet.
struct Open {
    node: Node,
    anchor: usize,
    /// A key that waits for its value: its text, place, and whether the entry is to be dropped.
    key: Option<(String, Span, bool)>,
    /// Keys so far and their lines. A set, because a hostile mapping may have 100,000 keys.
    seen: BTreeMap<String, u32>,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    nodes: usize,
    documents: Vec<Node>,
    problems: Vec<Problem>,
    secret: Vec<Range<usize>>,
}

impl Builder {
    fn eat(&mut self, event: Event<'_>, span: &granit_parser::Span) -> Result<(), Problem> {
        if let Some(tag) = event.tag() {
            let at = span.tag_span().map_or_else(|| spanned(span), |tag| spanned(&tag));
            let what = format!("tag `{}` is not allowed", quote(&tag.original()));
            self.problems.push((at, what, Some("write the value without a tag".into())));
        }
        match event {
            Event::DocumentStart(..) => self.anchors.clear(),
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                let style = if plain { Style::Plain } else { Style::Quoted };
                let bytes = span.start.byte_offset().zip(span.end.byte_offset());
                let kind = Kind::Scalar { text: text.into_owned(), style };
                self.value(leaf(spanned(span), kind), anchor, bytes)?;
            }
            Event::SequenceStart(_, anchor, _) => self.start(Kind::List(Vec::new()), anchor, span),
            Event::MappingStart(_, anchor, _) => self.start(Kind::Map(Vec::new()), anchor, span),
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(done) = self.open.pop() {
                    self.value(done.node, done.anchor, None)?;
                }
            }
            Event::Alias(id) => match self.anchors.get(&id).cloned() {
                Some(node) => {
                    self.nodes += node.size;
                    self.value(node, 0, None)?;
                }
                None => {
                    let what = "this alias is inside the value that it names".to_owned();
                    let hint = Some("write the value out".to_owned());
                    self.problems.push((spanned(span), what, hint));
                    let kind = Kind::Scalar { text: String::new(), style: Style::Plain };
                    self.value(leaf(spanned(span), kind), 0, None)?;
                }
            },
            // Stream and document marks; comments and anchors are not asked for.
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, kind: Kind, anchor: usize, span: &granit_parser::Span) {
        let node = leaf(spanned(span), kind);
        self.open.push(Open { node, anchor, key: None, seen: BTreeMap::new() });
    }

    /// A complete value: it belongs to the innermost open collection, or is a document.
    fn value(
        &mut self,
        node: Node,
        anchor: usize,
        bytes: Option<(usize, usize)>,
    ) -> Result<(), Problem> {
        let at = node.span;
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let what = format!("more than {MAX_NODES} values, counting each use of an alias");
            return Err((at, what, Some("split the file, and do not nest aliases".into())));
        }
        if self.open.len() + node.depth > MAX_DEPTH {
            let what = format!("nested deeper than {MAX_DEPTH} levels");
            return Err((at, what, Some("write aliased values out".into())));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
            self.nodes += node.size;
        }
        let is_key = |open: &Open| open.key.as_ref().is_some_and(|(key, ..)| key == "userData");
        if let Some((start, end)) = bytes
            && self.open.iter().any(is_key)
        {
            self.secret.push(start..end);
        }
        let Some(open) = self.open.last_mut() else {
            if !node.is_null() {
                self.documents.push(node);
            }
            return Ok(());
        };
        open.node.size += node.size;
        open.node.depth = open.node.depth.max(node.depth + 1);
        match &mut open.node.kind {
            Kind::List(items) => items.push(node),
            Kind::Map(entries) => match open.key.take() {
                None => open.key = Some(key(node, &mut open.seen, &mut self.problems)),
                Some((key, key_span, false)) => {
                    entries.push(Entry { key, key_span, value: node });
                }
                Some((_, _, true)) => {}
            },
            Kind::Scalar { .. } => {}
        }
        Ok(())
    }

    /// Forgets the document that could not be read.
    fn abandon(&mut self) {
        self.open.clear();
        self.anchors.clear();
    }
}

fn leaf(span: Span, kind: Kind) -> Node {
    let size = match &kind {
        Kind::Scalar { text, .. } => 1 + text.len() / 32,
        Kind::List(_) | Kind::Map(_) => 1,
    };
    Node { span, kind, given: None, size, depth: 1 }
}

/// A value in the place of a key. Keys are single words, each once.
fn key(
    node: Node,
    seen: &mut BTreeMap<String, u32>,
    problems: &mut Vec<Problem>,
) -> (String, Span, bool) {
    let span = node.span;
    let Kind::Scalar { text, .. } = node.kind else {
        let what = "a key must be a single word".to_owned();
        problems.push((span, what, Some("write `name: value`".into())));
        return (String::new(), span, true);
    };
    if text == "<<" {
        let what = "merge keys `<<` are not allowed".to_owned();
        problems.push((span, what, Some("write the fields out, or alias a whole value".into())));
        return (text, span, true);
    }
    if let Some(line) = seen.insert(text.clone(), span.line) {
        let what = format!("`{}` is given twice", quote(&text));
        problems.push((span, what, Some(format!("remove one; the first is on line {line}"))));
        return (text, span, true);
    }
    (text, span, false)
}
