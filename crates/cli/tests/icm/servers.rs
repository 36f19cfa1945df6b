//! Servers for tests: S3 and WebDAV, each over a folder.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use dav_server::DavHandler;
use dav_server::fakels::FakeLs;
use dav_server::localfs::LocalFs;
use hyper::header::AUTHORIZATION;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tokio::runtime::{Builder, Runtime};

pub(crate) const ACCESS_KEY: &str = "AKIAIOSFODNN7EXAMPLE";
pub(crate) const SECRET_KEY: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
/// Credentials of the user `mira` with the password `tea`.
pub(crate) const BASIC: &str = "Basic bWlyYTp0ZWE=";

/// A server on this machine, which ends when dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    _runtime: Runtime,
}

/// Serves each connection by a service.
macro_rules! serve {
    ($service:expr) => {{
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let service = $service;
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let service = service.clone();
                tokio::spawn(async move {
                    let connection = hyper::server::conn::http1::Builder::new();
                    // The client may close its connection.
                    let _ = connection
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Server {
            address,
            _runtime: runtime,
        }
    }};
}

/// Serves S3; buckets are the folders within `root`.
pub(crate) fn s3(root: &Path) -> Server {
    let mut service = S3ServiceBuilder::new(s3s_fs::FileSystem::new(root).unwrap());
    service.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
    serve!(service.build())
}

/// Serves the XML API of Google Cloud Storage, as far as it equals that of S3, without a check of the caller. Buckets
/// are folders within `root`.
pub(crate) fn gcs(root: &Path) -> Server {
    let service = S3ServiceBuilder::new(s3s_fs::FileSystem::new(root).unwrap()).build();
    serve!(service_fn(
        move |mut request: hyper::Request<hyper::body::Incoming>| {
            // The header has a token, which S3 does not know.
            request.headers_mut().remove(AUTHORIZATION);
            hyper::service::Service::call(&service, request)
        }
    ))
}

pub(crate) fn webdav(root: &Path) -> Server {
    let dav = DavHandler::builder()
        .filesystem(LocalFs::new(root, false, false, false))
        .locksystem(FakeLs::new())
        .build_handler();
    serve!(service_fn(
        move |request: hyper::Request<hyper::body::Incoming>| {
            let dav = dav.clone();
            async move {
                let said = request.headers().get(AUTHORIZATION);
                if said.is_none_or(|it| it != BASIC) {
                    let refused = hyper::Response::builder().status(401);
                    return Ok::<_, Infallible>(
                        refused.body(dav_server::body::Body::empty()).unwrap(),
                    );
                }
                Ok(dav.handle(request).await)
            }
        }
    ))
}
