//! Programs side by side: so many at a time, each with a limit of time, their lines told as they come.
//!
//! Threads and not tasks: a child is a pair of pipes to wait for, and the runtime is gone by then.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How often a child is asked whether it has ended.
const OFTEN: Duration = Duration::from_millis(20);

/// What a child said may still be under way when it has ended. A program that it left behind may hold
/// the pipes open for ever: nobody waits for that.
const GRACE: Duration = Duration::from_millis(500);

/// A line that is longer comes in parts.
const LONGEST: u64 = 64 * 1024;

/// What to start, or why there is nothing to start.
pub(crate) type Task = Result<Command, End>;

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, with this code; `None`: by a signal.
    Exited(Option<i32>),
    /// It took too long, and was ended.
    TimedOut,
    /// The program could not be started.
    NotStarted(String),
    /// There was nothing to start it for.
    NotReached(String),
}

/// What is told meanwhile.
pub(crate) enum News {
    /// A child said something, on its standard error or output.
    Line { at: usize, error: bool, text: String },
    /// A child ended, after so long.
    Ended { at: usize, end: End, took: Duration },
}

/// Runs every task, and tells of each, in the order in which things happen.
pub(crate) fn run_all(
    tasks: Vec<Task>,
    at_once: usize,
    timeout: Duration,
    mut on: impl FnMut(News),
) {
    let workers = at_once.min(tasks.len());
    let next = AtomicUsize::new(0);
    let tasks: Vec<Mutex<Option<Task>>> =
        tasks.into_iter().map(|task| Mutex::new(Some(task))).collect();
    let (say, hear) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (say, next, tasks) = (say.clone(), &next, &tasks);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(at) else { break };
                    let task = task.lock().ok().and_then(|mut task| task.take());
                    let Some(task) = task else { continue };
                    let began = Instant::now();
                    let end = match task {
                        Ok(command) => one(command, timeout, at, &say),
                        Err(end) => end,
                    };
                    let _ = say.send(News::Ended { at, end, took: began.elapsed() });
                }
            });
        }
        drop(say);
        hear.iter().for_each(&mut on);
    });
}

fn one(mut command: Command, timeout: Duration, at: usize, say: &Sender<News>) -> End {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(cause) => return End::NotStarted(cause.to_string()),
    };
    let (tell, told) = mpsc::channel();
    if let Some(pipe) = child.stdout.take() {
        read(pipe, false, tell.clone());
    }
    if let Some(pipe) = child.stderr.take() {
        read(pipe, true, tell);
    }
    let deadline = Instant::now().checked_add(timeout);
    let mut end: Option<(End, Instant)> = None;
    loop {
        match told.recv_timeout(OFTEN) {
            Ok((error, text)) => {
                let _ = say.send(News::Line { at, error, text });
            }
            Err(RecvTimeoutError::Timeout) => {}
            // Both pipes are closed: all is said.
            Err(RecvTimeoutError::Disconnected) => match &end {
                Some((end, _)) => return end.clone(),
                None => std::thread::sleep(OFTEN),
            },
        }
        match &end {
            Some((end, since)) if since.elapsed() > GRACE => return end.clone(),
            Some(_) => {}
            None => end = ended(&mut child, deadline).map(|end| (end, Instant::now())),
        }
    }
}

/// How a child ended, if it has, or has to.
fn ended(child: &mut Child, deadline: Option<Instant>) -> Option<End> {
    match child.try_wait() {
        Ok(Some(status)) => return Some(End::Exited(status.code())),
        Ok(None) => {}
        Err(cause) => return Some(End::NotStarted(cause.to_string())),
    }
    if deadline.is_none_or(|deadline| Instant::now() < deadline) {
        return None;
    }
    let _ = child.kill();
    let _ = child.wait();
    Some(End::TimedOut)
}

/// Tells a pipe's lines, in a thread that nobody waits for.
fn read(pipe: impl Read + Send + 'static, error: bool, tell: Sender<(bool, String)>) {
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        loop {
            let mut line = Vec::new();
            match pipe.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\n', '\r']).to_owned();
            if tell.send((error, text)).is_err() {
                break;
            }
        }
    });
}
