//! The HTTP face: what is there, for whom, and that nobody can hold it up.

mod api;
mod events;
mod hooks;

use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpStream, UnixStream};

use crate::support::TestServer;
use crate::support::web::{ask, read, send};

#[tokio::test]
async fn health_readiness_and_metrics_are_there_and_nothing_else() {
    let server = TestServer::start("").await;
    let get = async |path| ask(&server.http, "GET", path).await;
    for (path, body) in [("/healthz", "ok\n"), ("/readyz", "serving\n")] {
        let answer = get(path).await;
        assert_eq!((answer.status, answer.body.as_str()), (200, body), "{path}");
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    }
    let metrics = get("/metrics").await;
    assert_eq!(
        (metrics.status, metrics.header("content-type").as_str()),
        (200, "text/plain; version=0.0.4; charset=utf-8")
    );
    assert!(metrics.body.contains("tripnote_build_info"));
    for path in ["/", "/metrics/", "/Metrics", "/console", "/../etc/passwd", "/metrics%2f"] {
        let answer = get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.starts_with("there are GET /metrics, GET /healthz, GET /readyz, and what"), "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn head_is_get_without_a_body_and_no_other_method_is_allowed() {
    let server = TestServer::start("").await;
    for path in ["/metrics", "/healthz", "/readyz"] {
        let head = ask(&server.http, "HEAD", path).await;
        assert_eq!((head.status, head.body.as_str()), (200, ""), "{path}");
        assert!(!head.header("content-length").is_empty() && head.header("content-length") != "0");
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"] {
            let answer = ask(&server.http, method, path).await;
            assert_eq!((answer.status, answer.header("allow").as_str()), (405, "get, head"), "{method} {path}");
            assert!(answer.body.contains("GET /metrics"), "{method} {path}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn every_answer_keeps_browsers_and_caches_out() {
    let server = TestServer::start("").await;
    for path in ["/metrics", "/nothing"] {
        let answer = ask(&server.http, "GET", path).await;
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert!(answer.header("content-security-policy").starts_with("default-src 'none'"));
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
    server.stop().await;
}

#[tokio::test]
async fn it_answers_to_its_own_names_alone() {
    let server = TestServer::start("http_hosts = [\"trip.internal\"]").await;
    let status = async |head: &[&str]| {
        let head = [&["GET /healthz HTTP/1.1", "connection: close"], head].concat();
        send(&server.http, &head).await.status
    };
    for host in ["localhost", "127.0.0.1:9", "[::1]", "trip.internal:7172"] {
        assert_eq!(status(&[&format!("host: {host}")]).await, 200, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example"] {
        assert_eq!(status(&[&format!("host: {host}")]).await, 421, "{host}");
    }
    assert_eq!(status(&[]).await, 400, "no host");
    assert_eq!(status(&["host: localhost", "host: evil.example"]).await, 400, "two hosts");
    assert_eq!(status(&["host: localhost", "origin: http://evil.example"]).await, 403);
    assert_eq!(status(&["host: localhost", "sec-fetch-site: cross-site"]).await, 403);
    let absolute = ["GET http://evil.example/healthz HTTP/1.1", "host: localhost", "connection: close"];
    assert_eq!(send(&server.http, &absolute).await.status, 421);
    server.stop().await;
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused_and_not_kept() {
    let server = TestServer::start("").await;
    let host = format!("host: {}", server.http);
    let long = format!("x-long: {}", "a".repeat(64 << 10));
    let answer = send(&server.http, &["GET /healthz HTTP/1.1", &host, &long]).await;
    assert_eq!(answer.status, 431);
    let many: Vec<String> = (0..100).map(|at| format!("x-{at}: a")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let answer = send(&server.http, &[&["GET /healthz HTTP/1.1", &host][..], &many].concat()).await;
    assert_eq!(answer.status, 431);
    server.stop().await;
}

#[tokio::test]
async fn connections_that_say_nothing_hold_up_neither_calls_nor_the_drain() {
    let server = TestServer::start("").await;
    let mut silent = vec![];
    for _ in 0..200 {
        let mut stream = TcpStream::connect(&server.http).await.unwrap();
        stream.write_all(b"GET /metr").await.unwrap();
        silent.push(stream);
    }
    server.permit("a").await;
    server.stop().await; // the connections are there still
    drop(silent);
}

#[tokio::test]
async fn while_it_drains_it_says_so() {
    let server = TestServer::start("drain_for = \"5m\"").await;
    let http = server.http.clone();
    let held = server.hold_up().await;
    server.permit("a").await; // the other is on its way before it
    let stopping = tokio::spawn(server.stop());
    let mut answer = ask(&http, "GET", "/readyz").await;
    while answer.status == 200 {
        answer = ask(&http, "GET", "/readyz").await; // the first few may be before the drain
    }
    assert_eq!((answer.status, answer.body.as_str()), (503, "draining: ask another instance\n"));
    assert_eq!(ask(&http, "GET", "/healthz").await.status, 200);
    assert_eq!(ask(&http, "GET", "/metrics").await.status, 200);
    held.abort();
    stopping.await.unwrap();
    assert!(TcpStream::connect(&http).await.is_err(), "it goes with the service");
}

#[tokio::test]
async fn over_a_socket_file_any_name_will_do_and_the_file_goes_with_the_service() {
    let path = std::env::temp_dir().join(format!("tripnote-http-{}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let server = TestServer::start_with_http("", &format!("unix:{}", path.display())).await;
    let mut stream = UnixStream::connect(&path).await.unwrap();
    stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: whatever\r\nconnection: close\r\n\r\n").await.unwrap();
    let answer = read(&mut stream).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "serving\n"));
    server.stop().await;
    assert!(!path.exists());
}
