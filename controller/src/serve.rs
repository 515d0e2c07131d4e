//! The server: pages, API and metrics behind one door.

use crate::Controller;
use crate::door::{Amounts, Door, Patient, Peer, guard};
use crate::{api, metrics, pages};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::{Request, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What a request may bring.
pub(crate) const MOST_BODY: usize = 64 * 1024;
/// Headers and TLS must be there by then; so must the next request on a connection.
const HEADERS_WITHIN: Duration = Duration::from_secs(15);
/// Room for the headers of one request.
const MOST_HEAD: usize = 32 * 1024;
const MOST_HEADERS: usize = 64;
/// Answers that are under way get so long when we stop.
const FAREWELL: Duration = Duration::from_secs(5);
/// After a failed accept: there may be no file descriptors left.
const BREATH: Duration = Duration::from_millis(100);

/// Serves this machine alone until `stop` ends.
pub async fn serve(
    controller: Arc<Controller>,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    serve_behind(Door::loopback(Amounts::default()), controller, listener, stop).await
}

/// Serves whom a door lets in until `stop` ends.
pub async fn serve_behind(
    door: Door,
    controller: Arc<Controller>,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let door = Arc::new(door);
    let app = Router::new()
        .merge(api::routes())
        .merge(pages::routes())
        .merge(metrics::routes())
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(axum::middleware::from_fn_with_state(door.clone(), guard))
        .with_state(controller.clone());
    let (end, ending) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    watch_certificate(&door, ending.clone());
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!(%error, "cannot accept");
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        let Some(seat) = door.connections.take(Peer(peer.ip()).key()) else {
            turn_away(&door, &stream);
            continue;
        };
        let (app, door, ending) = (app.clone(), door.clone(), ending.clone());
        connections.spawn(async move {
            connect(&door, app, stream, peer, ending).await;
            drop(seat);
        });
    }
    drop(listener);
    // Streams end by themselves, and answers under way are finished.
    controller.desk.end_streams();
    let _ = end.send(true);
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(FAREWELL, all).await;
    Ok(())
}

/// Says that there is no room, if that can be said in one go.
fn turn_away(door: &Door, stream: &TcpStream) {
    const FULL: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    if !door.is_behind_tls() {
        let _ = stream.try_write(FULL);
    }
}

#[cfg(feature = "tls")]
fn watch_certificate(door: &Arc<Door>, mut ending: watch::Receiver<bool>) {
    let door = door.clone();
    tokio::spawn(async move {
        let Some(certificate) = &door.tls else { return };
        loop {
            tokio::select! {
                _ = ending.changed() => return,
                () = tokio::time::sleep(crate::door::tls::LOOK_EVERY) => certificate.look_again(),
            }
        }
    });
}

#[cfg(not(feature = "tls"))]
fn watch_certificate(_door: &Arc<Door>, _ending: watch::Receiver<bool>) {}

impl Door {
    #[cfg(feature = "tls")]
    fn is_behind_tls(&self) -> bool {
        self.tls.is_some()
    }

    #[cfg(not(feature = "tls"))]
    fn is_behind_tls(&self) -> bool {
        false
    }
}

async fn connect(
    door: &Door,
    app: Router,
    stream: TcpStream,
    peer: SocketAddr,
    ending: watch::Receiver<bool>,
) {
    // Events are small, and wanted now.
    let _ = stream.set_nodelay(true);
    #[cfg(feature = "tls")]
    if let Some(certificate) = &door.tls {
        let handshake = certificate.acceptor().accept(stream);
        match tokio::time::timeout(HEADERS_WITHIN, handshake).await {
            Ok(Ok(stream)) => answer(app, stream, peer, ending).await,
            Ok(Err(error)) => tracing::debug!(%peer, %error, "no TLS"),
            Err(_) => tracing::debug!(%peer, "TLS took too long"),
        }
        return;
    }
    let _ = door;
    answer(app, stream, peer, ending).await;
}

async fn answer(
    app: Router,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    mut ending: watch::Receiver<bool>,
) {
    let app = TowerToHyperService::new(app);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer.ip()));
        hyper::service::Service::call(&app, request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(MOST_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(Patient::new(stream)), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = ending.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "a connection ended");
    }
}

impl Controller {
    /// Does work that cannot move between threads, on threads for it: looking at clouds and deciding. `None`: it
    /// broke off.
    pub async fn apart<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl AsyncFnOnce(Arc<Self>) -> T + Send + 'static,
    ) -> Option<T> {
        let this = self.clone();
        self.threads.run(async move || work(this).await).await.ok()
    }
}
