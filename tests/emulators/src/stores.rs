//! Object stores that nobody here wrote, and a proxy in front of them that loses answers.
//!
//! S3 is moto, Azure Blob is Azurite. For Google Cloud Storage there is no emulator that knows
//! preconditions; its XML interface is S3's but for the header that says "only if there is none".
//! So moto stands in for it too, and the proxy puts that one header into the words of S3.

mod proxy;

pub use proxy::{Fault, Faults};

use crate::aws::{Moto, tool};
use fleet_testkit::{free_port, start_quietly, told, witnesses};
use proxy::Proxy;
use std::io::Result;
use std::path::Path;
use tokio::process::{Child, Command};

/// The account that every Azurite knows, and its key: public, and good for nothing else.
const AZURITE: (&str, &str) = (
    "devstoreaccount1",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
);

/// What moto takes for a secret: it does not look.
const SECRET: &str = "canary-5up3r";

/// The bucket or container. Without a hyphen: Google's clients write it as `%2D`, which moto does
/// not read.
const BUCKET: &str = "teamstate";

/// A kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Amazon S3.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
    Azure,
}

/// A server with one empty bucket, behind a proxy. Ends with this value.
#[derive(Debug)]
pub struct StoreServer {
    kind: Kind,
    proxy: Proxy,
    _server: Server,
}

#[derive(Debug)]
enum Server {
    Moto { _moto: Moto },
    Azurite { _azurite: Child, _folder: tempfile::TempDir },
}

impl StoreServer {
    /// Starts one, and makes the bucket.
    pub async fn start(kind: Kind) -> Result<Self> {
        let (server, port) = match kind {
            Kind::S3 | Kind::Gcs => {
                let moto = Moto::start().await?;
                let port = moto.port();
                (Server::Moto { _moto: moto }, port)
            }
            Kind::Azure => azurite().await?,
        };
        make_bucket(kind, port).await?;
        let proxy = Proxy::start(port, kind).await?;
        Ok(StoreServer { kind, proxy, _server: server })
    }

    /// The address for `--state`.
    pub fn address(&self, prefix: &str) -> String {
        self.address_of(BUCKET, prefix)
    }

    /// The same in another bucket, which is not there.
    pub fn address_of(&self, bucket: &str, prefix: &str) -> String {
        let scheme = match self.kind {
            Kind::S3 => "s3",
            Kind::Gcs => "gs",
            Kind::Azure => "az",
        };
        format!("{scheme}://{bucket}/{prefix}")
    }

    /// What the environment must say.
    pub fn settings(&self) -> Vec<(String, String)> {
        settings(self.kind, self.proxy.port())
    }

    /// The secrets among them.
    pub fn secrets(&self) -> [&'static str; 2] {
        [SECRET, AZURITE.1]
    }

    /// The same for a server that is not there.
    pub fn settings_of_nobody(&self) -> Vec<(String, String)> {
        // Discard: nobody has listened there for decades.
        settings(self.kind, 9)
    }

    /// Replaces the faults.
    pub fn set(&self, faults: Faults) {
        self.proxy.set(faults);
    }

    /// How many faults there were since they were last set.
    pub fn faults(&self) -> u32 {
        self.proxy.faults()
    }
}

fn settings(kind: Kind, port: u16) -> Vec<(String, String)> {
    let endpoint = format!("http://127.0.0.1:{port}");
    let azure = format!("{endpoint}/{}", AZURITE.0);
    let pairs: &[(&str, &str)] = match kind {
        Kind::S3 => &[
            ("AWS_ENDPOINT", &endpoint),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
        ],
        Kind::Gcs => &[
            ("GOOGLE_BASE_URL", &endpoint),
            ("GOOGLE_ALLOW_HTTP", "true"),
            ("GOOGLE_BEARER_TOKEN", SECRET),
        ],
        Kind::Azure => &[
            ("AZURE_STORAGE_ENDPOINT", &azure),
            ("AZURE_ALLOW_HTTP", "true"),
            ("AZURE_STORAGE_ACCOUNT_NAME", AZURITE.0),
            ("AZURE_STORAGE_ACCOUNT_KEY", AZURITE.1),
        ],
    };
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

async fn azurite() -> Result<(Server, u16)> {
    let folder = tempfile::tempdir()?;
    let port = free_port()?;
    let mut command = Command::new(witnesses().join("node_modules/.bin/azurite-blob"));
    command
        .args(["--blobHost", "127.0.0.1", "--blobPort", &port.to_string()])
        .args(["--skipApiVersionCheck", "--silent", "--disableTelemetry", "-l"])
        .arg(folder.path());
    let azurite = start_quietly(&mut command, port, 60, "azurite is not installed").await?;
    Ok((Server::Azurite { _azurite: azurite, _folder: folder }, port))
}

/// Makes the bucket with the vendor's own client.
async fn make_bucket(kind: Kind, port: u16) -> Result<()> {
    let mut script = Command::new(tool("python"));
    script.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/stores/bucket.py"));
    match kind {
        Kind::S3 | Kind::Gcs => script.arg("s3"),
        Kind::Azure => script.arg("azure"),
    };
    script.arg(BUCKET).envs(settings(kind, port)).arg(format!("http://127.0.0.1:{port}"));
    told(&mut script).await.map(drop)
}
