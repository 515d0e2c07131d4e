//! Threads for work that cannot move between threads: looking at clouds and deciding.

use futures::future::{FutureExt, LocalBoxFuture};
use std::sync::Arc;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::LocalSet;

/// Files that a thread reads and writes at once. Tokio's own limit is 512, and threads keep what they once needed: a
/// controller of 100 fleets grew to 330 of them.
const FILES_AT_ONCE: usize = 4;

type Work = Box<dyn FnOnce() -> LocalBoxFuture<'static, ()> + Send>;

pub(crate) struct Threads(Vec<Thread>);

struct Thread {
    work: UnboundedSender<Work>,
    /// Each piece of work that is not done yet holds one more.
    busy: Arc<()>,
}

impl Threads {
    /// Their number should be that of the cores: a thread more is memory more.
    pub(crate) fn new(number: usize) -> Self {
        let start = |_| {
            let (work, take) = unbounded_channel();
            std::thread::spawn(move || work_off(take));
            Thread { work, busy: Arc::default() }
        };
        Threads((0..number.max(1)).map(start).collect())
    }

    /// Begins some work on the thread that has least to do, whether or not anybody waits for its end. An error:
    /// it broke off.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl AsyncFnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (tell, told) = oneshot::channel();
        if let Some(thread) = self.0.iter().min_by_key(|thread| Arc::strong_count(&thread.busy)) {
            let busy = thread.busy.clone();
            let work = move || {
                let work = async move {
                    let done = work().await;
                    // Before the result is reported, so that the thread counts as free by then.
                    drop(busy);
                    let _ = tell.send(done);
                };
                work.boxed_local()
            };
            // A thread that is gone drops the work, and with it what would tell.
            let _ = thread.work.send(Box::new(work));
        }
        told
    }
}

fn work_off(mut take: UnboundedReceiver<Work>) {
    let runtime =
        Builder::new_current_thread().enable_all().max_blocking_threads(FILES_AT_ONCE).build();
    match runtime {
        Ok(runtime) => LocalSet::new().block_on(&runtime, async move {
            while let Some(work) = take.recv().await {
                tokio::task::spawn_local(work());
            }
        }),
        Err(error) => tracing::error!(%error, "a thread cannot start"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::rc::Rc;
    use std::time::Duration;

    #[tokio::test]
    async fn work_that_cannot_move_is_shared_out_and_told() {
        let threads = Threads::new(2);
        let stays = async || {
            let here = Rc::new(std::thread::current().id());
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert_eq!(*here, std::thread::current().id());
            *here
        };
        let (first, second) = (threads.run(stays), threads.run(stays));
        let (first, second) = (first.await.ok(), second.await.ok());
        assert!(first.is_some() && second.is_some() && first != second, "{first:?}, {second:?}");
    }

    #[tokio::test]
    async fn work_that_breaks_off_takes_no_other_with_it() {
        let threads = Threads::new(1);
        let broken = threads.run(async || assert_eq!(1, 2, "on purpose"));
        assert!(broken.await.is_err());
        assert_eq!(threads.run(async || 7).await, Ok(7));
    }

    #[tokio::test]
    async fn a_thread_that_is_free_takes_what_comes() {
        let threads = Threads::new(2);
        let name = async || std::thread::current().id();
        let (go, wait) = oneshot::channel::<()>();
        let long = threads.run(async move || {
            let _ = wait.await;
            std::thread::current().id()
        });
        let mut others = Vec::new();
        for _ in 0..4 {
            others.push(threads.run(name).await);
        }
        go.send(()).expect("somebody who waits");
        let long = long.await;
        assert!(others.iter().all(|other| other.is_ok() && *other != long));
    }

    #[tokio::test]
    async fn files_take_few_threads() {
        let threads = Threads::new(1);
        let used = threads.run(async || {
            let read = |_| {
                tokio::task::spawn_blocking(|| {
                    std::thread::sleep(Duration::from_millis(1));
                    std::thread::current().id()
                })
            };
            let reads = futures::future::join_all((0..200).map(read)).await;
            reads.into_iter().filter_map(Result::ok).collect::<HashSet<_>>().len()
        });
        let used = used.await.expect("it did not break off");
        assert!((1..=FILES_AT_ONCE).contains(&used), "{used}");
    }
}
