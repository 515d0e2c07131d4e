//! The certificate, read again when its files change.

use fleet_words::fail::{Answer, Failure, Place};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio_rustls::TlsAcceptor;

/// How often the files are looked at.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(5);

/// A certificate and its key.
pub struct Certificate {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<(Arc<ServerConfig>, Stamps)>,
}

type Stamps = [Option<SystemTime>; 2];

impl Certificate {
    /// Reads both files, in PEM.
    pub fn open(certificate: &Path, key: &Path) -> Answer<Self> {
        let stamps = stamps(certificate, key);
        let config = read(certificate, key)?;
        Ok(Certificate {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            current: RwLock::new((config, stamps)),
        })
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(current.0.clone())
    }

    /// Reads the files again if they changed. What cannot be used changes nothing: renewals write two files, and one
    /// comes first.
    pub(crate) fn look_again(&self) {
        let stamps = stamps(&self.certificate, &self.key);
        if self.current.read().unwrap_or_else(PoisonError::into_inner).1 == stamps {
            return;
        }
        match read(&self.certificate, &self.key) {
            Ok(config) => {
                tracing::info!("the certificate was read again");
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = (config, stamps);
            }
            Err(failure) => {
                let (what, place, _) = failure.told();
                tracing::warn!(place, "the certificate before stays: {what}");
            }
        }
    }
}

fn stamps(certificate: &Path, key: &Path) -> Stamps {
    [certificate, key].map(|file| std::fs::metadata(file).and_then(|data| data.modified()).ok())
}

fn read(certificate: &Path, key: &Path) -> Answer<Arc<ServerConfig>> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .or_fail("cannot read the certificate", certificate.display())?;
    if chain.is_empty() {
        return Err(Failure::new("there is no certificate in the file")
            .at(certificate.display())
            .hint("it is in PEM: -----BEGIN CERTIFICATE-----"));
    }
    let secret = PrivateKeyDer::from_pem_file(key).or_fail("cannot read the key", key.display())?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .or_fail("cannot set up TLS", "--tls-cert")?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|cause| {
            Failure::new(format!("certificate and key do not fit: {cause}"))
                .at(format!("{}, {}", certificate.display(), key.display()))
                .hint("--tls-key is the private key of the first certificate in --tls-cert")
        })?;
    let mut config = config;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, RootCertStore};
    use tokio::net::{TcpListener, TcpStream};
    use tokio_rustls::TlsConnector;

    /// Writes a new certificate for localhost, and tells it.
    fn write(folder: &Path) -> (PathBuf, PathBuf, CertificateDer<'static>) {
        let made =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
        std::fs::write(&certificate, made.cert.pem()).expect("a file");
        std::fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
        (certificate, key, made.cert.der().clone())
    }

    /// Whether a client that trusts one certificate gets through.
    async fn trusts(served: &Certificate, trusted: &CertificateDer<'static>) -> bool {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone()).expect("a root");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connect = async {
            let stream = TcpStream::connect(address).await.expect("a connection");
            let name = ServerName::try_from("localhost").expect("a name");
            TlsConnector::from(Arc::new(client)).connect(name, stream).await.is_ok()
        };
        let accept = async {
            let (stream, _) = listener.accept().await.expect("a connection");
            let _ = served.acceptor().accept(stream).await;
        };
        tokio::join!(connect, accept).0
    }

    #[tokio::test]
    async fn a_renewed_certificate_is_served_without_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let (certificate, key, first) = write(folder.path());
        let served = Certificate::open(&certificate, &key).expect("a certificate");
        assert!(trusts(&served, &first).await);
        let (_, _, second) = write(folder.path());
        served.look_again();
        assert!(trusts(&served, &second).await && !trusts(&served, &first).await);
        // Half of a renewal changes nothing.
        std::fs::write(&key, "not a key").expect("a file");
        served.look_again();
        assert!(trusts(&served, &second).await);
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let (certificate, key, _) = write(folder.path());
        let kept = std::fs::read(&certificate).expect("a file");
        write(folder.path());
        std::fs::write(&certificate, kept).expect("a file");
        let failure = Certificate::open(&certificate, &key).err().expect("another key");
        assert!(failure.what.contains("do not fit"), "{failure}");
        assert!(
            Certificate::open(&key, &key).is_err()
                && Certificate::open(folder.path(), &key).is_err()
        );
    }
}
