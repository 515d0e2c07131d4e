//! A controller of the real binary, asked through a real socket.

use super::{Place, judge, root};
use fleet_sim::Preset;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A controller; killed when dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// The document. It keeps its contract.
    pub(crate) fn document(&self) -> Value {
        let document: Value = serde_json::from_slice(&self.body)
            .unwrap_or_else(|cause| panic!("{cause}: {}", String::from_utf8_lossy(&self.body)));
        let faults = judge::faults(&document);
        assert!(faults.is_empty(), "{faults:#?}\n{document:#}");
        document
    }

    /// The words of an error.
    pub(crate) fn error(&self) -> String {
        let document = self.document();
        assert_eq!(document["kind"], "error", "{document:#}");
        document["error"].as_str().expect("words").to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Server {
    /// A calm world, and a folder with the quickstart fleet.
    pub(crate) fn ground() -> (Place, PathBuf) {
        let place = Place::new(7, Preset::Calm, Duration::ZERO);
        let specs = place.path("specs");
        std::fs::create_dir(&specs).expect("a folder");
        std::fs::copy(root().join("fleet-specs/quickstart.yaml"), specs.join("quickstart.yaml"))
            .expect("a copy");
        (place, specs)
    }

    /// Starts one on a free port and waits until it answers.
    pub(crate) fn start(place: &Place, specs: &Path, more: &[&str]) -> Self {
        let specs = specs.to_str().expect("a path");
        let args = [&["controller", specs, "--listen", "127.0.0.1:0"], more].concat();
        let mut command = place.command(&args);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("fleet starts");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut all = String::new();
        let address = loop {
            let mut line = String::new();
            let read = said.read_line(&mut line).expect("UTF-8");
            assert!(read > 0, "it ended: {all}");
            let told: Value = serde_json::from_str(&line).unwrap_or_default();
            if told["message"] == "listening" {
                break told["address"].as_str().expect("text").parse().expect("an address");
            }
            all.push_str(&line);
        };
        // A full pipe would stop it.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Server { address, child }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        stream
    }

    /// Sends bytes as they are, and reads until the end.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // It may refuse to read all of it.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let mut request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            request.push_str(&format!("host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            request.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        let answer = self.raw(format!("{request}\r\n{body}").as_bytes());
        reply(&answer).unwrap_or_else(|| panic!("no answer to {method} {path}"))
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &[("content-type", "application/json")], &body.to_string())
    }

    /// Waits until every fleet is as its spec says.
    pub(crate) fn settled(&self, headers: &[(&str, &str)]) {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let reply = self.send("GET", "/v1/fleets", headers, "");
            let seen = reply.document();
            let fleets = seen["fleets"].as_array().cloned().unwrap_or_default();
            if !fleets.is_empty() && fleets.iter().all(|fleet| fleet["standing"] == "settled") {
                return;
            }
            assert!(Instant::now() < until, "it does not settle: {seen:#}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// An answer, if it is one.
pub(crate) fn reply(bytes: &[u8]) -> Option<Reply> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Reply { status, head, body: bytes[end + 4..].to_vec() })
}
