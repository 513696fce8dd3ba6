//! From the command line to a server that answers, and to its end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderName, HeaderValue};
use axum::serve::ListenerExt as _;
use countersign_app::App;
use countersign_app::Settings;
use countersign_app::ports::{Clock, Trigger};
use countersign_embedded::clock::OffsetClock;
use countersign_embedded::engine::TABLE;
use countersign_embedded::faults::{Faults, FaultyTable};
use countersign_http::{Http, SourceAddress};
use countersign_outbound::Reach;
use countersign_runtime::{Config, GuardedHooks, GuardedJwks, OsEntropy, Parts, SystemClock, compose};
use countersign_store::dynamo::DynamoTable;
use countersign_store::table::Table;
use countersign_store::vault::RingWrap;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::banner::{Banner, say};
use crate::cli::ServeArgs;
use crate::dev::{Hooks, with_hooks};
use crate::error::StartError;
use crate::folder::Data;
use crate::listen::{StopSignal, listen};
use crate::mail::{Mail, MailSettings};
use crate::queue::{Queue, background, collect_forever, sweep_forever};
use crate::ready::{Ready, remove_stale};
use crate::seed::{Demo, seed, tenant};
use crate::shell::write_env;

/// What requests in flight, and then notices in flight, get to finish once the end is near.
const GRACE: Duration = Duration::from_secs(5);

/// Serves until a signal comes.
pub(crate) async fn serve(args: &ServeArgs, config: &Config) -> Result<(), StartError> {
    let mail = MailSettings::of(config)?;
    let mut signal = StopSignal::new().map_err(|error| StartError::Server(error.to_string()))?;
    let mut data = Data::open(args.folder(), tenant(), &OsEntropy).await?;
    let listener = listen(args.port).await?;
    let port = listener.local_addr().map_err(|error| StartError::Port { port: args.port, error })?.port();
    if let Some(path) = &args.ready_file {
        remove_stale(path)?;
    }
    let own_url = format!("http://127.0.0.1:{port}");
    let server = Server::of(args, config, mail, &data, &own_url);
    let demo = seed(&server.app, &mut data.credentials).await?;
    let (stop, stopped) = oneshot::channel();
    let mut running = background(run(listener, server.router(&data), stopped));
    background(Arc::clone(&server.queue).work(server.app.clone()));
    background(sweep_forever(server.app.clone(), Arc::new(SystemClock)));
    background(collect_forever(data.engine.garbage(), Arc::new(SystemClock)));
    let ready = ready(&server.app, &data, &demo);
    if let Some(folder) = &data.folder {
        write_env(folder, &ready)?;
    }
    if let Some(path) = &args.ready_file {
        ready.write(path)?;
    }
    say(&banner(args, &server, &data, &demo, own_url).text());
    tokio::select! {
        () = signal.come() => {}
        ended = &mut running => return Err(StartError::Server(format!("{ended:?}"))),
    }
    tracing::info!("stopping");
    server.app.stopping.set();
    // Nobody receives only where the server has ended already.
    let _ = stop.send(());
    if timeout(GRACE, running).await.is_err() {
        tracing::warn!("requests were cut off after {GRACE:?}");
    }
    match server.queue.drained(GRACE).await {
        0 => {}
        left => tracing::warn!("{left} notices are left to the next start"),
    }
    Ok(())
}

/// The use-cases and what drives them.
struct Server {
    app: App,
    queue: Arc<Queue>,
    mail: Mail,
    hooks: Option<(Arc<OffsetClock>, Arc<Faults>)>,
}

impl Server {
    fn of(args: &ServeArgs, config: &Config, mail: MailSettings, data: &Data, own_url: &str) -> Self {
        let queue = Arc::new(Queue::new());
        let mut clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let mut table: Arc<dyn Table> = Arc::new(DynamoTable::new(data.engine.client(), TABLE));
        let hooks = args.dev_hooks.then(|| (Arc::new(OffsetClock::new(Arc::clone(&clock))), Arc::default()));
        if let Some((movable, faults)) = &hooks {
            clock = Arc::clone(movable) as _;
            table = Arc::new(FaultyTable::new(table, Arc::clone(faults)));
        }
        let mail = Mail::of(mail, Arc::clone(&clock), data.outbox());
        let reach = if args.dev_hooks { Reach::PublicOrLoopback } else { Reach::Public };
        let app = compose(Parts {
            table,
            clock,
            entropy: Arc::new(OsEntropy),
            keys: data.credentials.keys.clone(),
            jwks: Arc::new(GuardedJwks::new(reach)),
            hooks: Arc::new(GuardedHooks::new(reach)),
            wrap: Arc::new(RingWrap::new(&data.credentials.keys, Arc::new(OsEntropy))),
            trigger: Arc::clone(&queue) as Arc<dyn Trigger>,
            channels: vec![mail.channel()],
            settings: Settings { plain_targets: args.dev_hooks, ..config.settings(own_url, true) },
        });
        Self { app, queue, mail, hooks }
    }

    fn router(&self, data: &Data) -> Router {
        let operator = Arc::new(data.credentials.operator.clone());
        let mut router = countersign_http::routes::all(Http { app: self.app.clone(), operator });
        if let Some((clock, faults)) = self.hooks.clone() {
            let (app, queue, mail) = (self.app.clone(), Arc::clone(&self.queue), self.mail.clone());
            router = with_hooks(&router, Hooks { app, queue, mail, clock, faults });
        }
        // True: an idle connection is never closed before the end.
        let keep_alive = HeaderValue::from_static("timeout=30");
        router.layer(SetResponseHeaderLayer::overriding(HeaderName::from_static("keep-alive"), keep_alive))
    }
}

async fn run(listener: TcpListener, router: Router, stopped: oneshot::Receiver<()>) -> std::io::Result<()> {
    // Answers are small and somebody waits for them.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let told = async { drop(stopped.await) };
    // Where a request comes from, for the limits of signing in.
    let named = router.layer(axum::middleware::map_request(source));
    axum::serve(listener, named.into_make_service_with_connect_info::<SocketAddr>())
        .with_graceful_shutdown(told)
        .await
}

async fn source(mut request: Request) -> Request {
    let from = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip().to_string());
    if let Some(from) = from {
        request.extensions_mut().insert(SourceAddress(from));
    }
    request
}

fn ready(app: &App, data: &Data, demo: &Demo) -> Ready {
    let credentials = &data.credentials;
    Ready {
        base_url: app.settings.base_url.clone(),
        operator_key: credentials.operator.reveal(),
        tenant: credentials.api_key.tenant.to_string(),
        api_key: credentials.api_key.reveal(),
        session: demo.session.name.to_string(),
        env: demo.env(app),
        signin_url: demo.signin_url(app),
    }
}

fn banner(args: &ServeArgs, server: &Server, data: &Data, demo: &Demo, listens_at: String) -> Banner {
    Banner {
        listens_at,
        base_url: server.app.settings.base_url.clone(),
        folder: data.folder.clone(),
        mail_is_sent: matches!(server.mail, Mail::Smtp(_)),
        dev_hooks: args.dev_hooks,
        is_first: demo.is_new,
        api_key: data.credentials.api_key.reveal(),
        env: demo.env(&server.app),
        signin_url: demo.signin_url(&server.app),
    }
}
