//! A small payments API over real HTTP: its newest charge endpoint answers once and then breaks. Knows no breaker.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context as _;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// Charges that `POST /v2/charge` takes before it breaks.
const GOOD_CHARGES: u32 = 1;

/// What the API has seen, which is the truth about the job.
#[derive(Debug, Default)]
struct Books {
    v2_requests: AtomicU32,
    // The invoices that were charged; held for one insert. An async lock, as plain ones are the engine's to name.
    charged: Mutex<BTreeSet<String>>,
}

/// The running API.
#[derive(Debug)]
pub(super) struct Api {
    address: SocketAddr,
    books: Arc<Books>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Api {
    /// Starts it on a free port of this machine.
    pub(super) async fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("cannot listen on 127.0.0.1")?;
        let address = listener.local_addr()?;
        let books = Arc::new(Books::default());
        let routes = Router::new()
            .route("/ledger", get(ledger))
            .route("/v2/charge", post(charge_v2))
            .route("/v1/charge", post(charge_v1))
            .route("/warehouse", post(warehouse))
            .with_state(Arc::clone(&books));
        let serving = tokio::spawn(async { axum::serve(listener, routes).await });
        Ok(Self { address, books, serving })
    }

    /// Where it listens.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Requests that reached the endpoint that breaks.
    pub(super) fn v2_requests(&self) -> u32 {
        self.books.v2_requests.load(Ordering::SeqCst)
    }

    /// Invoices that were charged, by whichever endpoint.
    pub(super) async fn charged(&self) -> usize {
        self.books.charged.lock().await.len()
    }

    /// Ends it.
    pub(super) fn stop(self) {
        self.serving.abort();
    }
}

/// What is owed on the invoice that the query names.
async fn ledger(uri: Uri) -> Json<Value> {
    let invoice = uri.query().and_then(|query| query.strip_prefix("invoice=")).unwrap_or_default();
    let number = invoice.bytes().filter(u8::is_ascii_digit).fold(0_u64, |n, digit| n + u64::from(digit - b'0'));
    Json(json!({ "invoice": invoice, "cents": 1_200 + 250 * number }))
}

async fn charge_v2(State(books): State<Arc<Books>>, Json(order): Json<Value>) -> (StatusCode, Json<Value>) {
    if books.v2_requests.fetch_add(1, Ordering::SeqCst) < GOOD_CHARGES {
        return (StatusCode::OK, Json(charge(&books, &order, "/v2").await));
    }
    // the sort of body that real gateways send: long, and without a word on what to do
    let body = json!({
        "error": {
            "type": "api_error",
            "message": "upstream connect error or disconnect/reset before headers",
            "reset_reason": "connection termination",
            "request_id": format!("req_{:08x}", books.v2_requests.load(Ordering::SeqCst)),
        }
    });
    (StatusCode::SERVICE_UNAVAILABLE, Json(body))
}

async fn charge_v1(State(books): State<Arc<Books>>, Json(order): Json<Value>) -> Json<Value> {
    Json(charge(&books, &order, "/v1").await)
}

async fn charge(books: &Books, order: &Value, endpoint: &str) -> Value {
    let invoice = order.get("invoice").and_then(Value::as_str).unwrap_or_default();
    books.charged.lock().await.insert(invoice.to_owned());
    json!({ "charged": invoice, "via": endpoint })
}

async fn warehouse(Json(row): Json<Value>) -> Json<Value> {
    Json(json!({ "written": row.get("invoice") }))
}
