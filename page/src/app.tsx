// The frame around every page: navigation, search, connection, scheme of colours; and who is signed in.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Link, Route, Switch, useLocation } from "wouter-preact";
import { forgetAll, useAnswer } from "./api/cache";
import { type Connection, live } from "./api/live";
import { type SignIn, signIn, signOut } from "./api/session";
import type { Session, Status } from "./api/types";
import { paths } from "./model/paths";
import { duration, whole } from "./model/text";
import { Empty, Panel, useNow } from "./parts/basics";
import { schemeChanged } from "./parts/canvas";
import { Notices, attempt } from "./parts/doing";
import { Search } from "./parts/search";
import { Shortcuts } from "./parts/shortcuts";
import { Application } from "./pages/application";
import { Applications } from "./pages/interference";
import { JobRoute } from "./pages/job";
import { Jobs } from "./pages/jobs";
import { Overview } from "./pages/overview";
import { Queue } from "./pages/queue";
import { Server } from "./pages/server";
import { Servers } from "./pages/servers";
import { Settings } from "./pages/settings";
import { SignInPage } from "./pages/sign_in";
import { Submit } from "./pages/submit";
import { Users } from "./pages/users";

function useConnection(): Connection {
  const [connection, setConnection] = useState(live.connection);
  useEffect(() => live.onConnection(() => setConnection(live.connection)), []);
  return connection;
}

export function Root() {
  const [answer, setAnswer] = useState<SignIn | null>(null);
  useEffect(() => void signIn().then(setAnswer), []);
  useEffect(() => live.onConnection(() => {
    if (live.connection.state !== "refused") return;
    live.stop();
    forgetAll();
    setAnswer({ problem: "Your session has ended." });
  }), []);
  const isSignedIn = answer !== null && "session" in answer;
  useEffect(() => {
    if (isSignedIn) live.start();
  }, [isSignedIn]);
  if (answer === null) return <main id="main"><Empty>Loading …</Empty></main>;
  if (!("session" in answer)) return <SignInPage problem={answer.problem} onSignIn={setAnswer} />;
  const end = () => attempt(signOut, "Signed out.").then((isDone) => {
    if (!isDone) return;
    live.stop();
    forgetAll();
    setAnswer({ problem: null });
  });
  return <Frame session={answer.session} onEnd={() => void end()} />;
}

const PLACES: [string, string, string][] = [
  [paths.overview, "Overview", "o"], [paths.queue, "Queue", "q"], [paths.jobs, "Jobs", "j"], [paths.servers, "Servers", "s"],
  [paths.interference, "Applications", "a"], [paths.users, "Users", "u"], [paths.settings, "Settings", "t"],
];

function Frame({ session, onEnd }: { session: Session; onEnd: () => void }) {
  const [location] = useLocation();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  // A new place is read from its beginning, by eyes and by screen readers.
  useLayoutEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else {
      window.scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
  }, [location]);
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <Side session={session} location={location} onEnd={onEnd} />
      <div class="content">
        <ConnectionBar />
        <main id="main" ref={main} tabIndex={-1}>
          <Switch>
            <Route path="/"><Overview /></Route>
            <Route path="/queue"><Queue /></Route>
            <Route path="/jobs"><Jobs /></Route>
            <Route path="/jobs/:job/:view?">{({ job, view }) => <JobRoute job={decodeURIComponent(job)} view={view} />}</Route>
            <Route path="/servers"><Servers /></Route>
            <Route path="/servers/:name">{({ name }) => <Server key={name} name={decodeURIComponent(name)} isOperator={session.role === "operate"} />}</Route>
            <Route path="/interference"><Applications /></Route>
            <Route path="/applications/:name">{({ name }) => <Application key={name} name={decodeURIComponent(name)} />}</Route>
            <Route path="/users"><Users /></Route>
            <Route path="/settings"><Settings isOperator={session.role === "operate"} /></Route>
            <Route path="/submit"><Submit /></Route>
            <Route><Panel><h1>No such page</h1><Empty>Nothing is at this address. <Link href={paths.overview}>Go to the overview</Link>.</Empty></Panel></Route>
          </Switch>
        </main>
      </div>
      <Notices />
      <Shortcuts places={PLACES} />
    </div>
  );
}

function Side({ session, location, onEnd }: { session: Session; location: string; onEnd: () => void }) {
  const status = useAnswer<Status>("/status", { job: true, server: true, queue: true });
  const isHere = (path: string) => (path === "/" ? location === "/" : location === path || location.startsWith(path + "/") || (path === paths.interference && location.startsWith("/applications")));
  return (
    <header class="side">
      <Link href={paths.overview} class="brand" aria-label="tarcil, overview"><img src="/assets/icon.svg" alt="" width="20" height="20" /> tarcil</Link>
      <Search />
      <nav aria-label="Pages">
        {PLACES.map(([path, title]) => (
          <Link href={path} class={isHere(path) ? "here" : ""} aria-current={isHere(path) ? "page" : undefined}>
            {title}
            {path === paths.queue && status.data !== null && status.data.waiting > 0 && <span class="count">{whole(status.data.waiting)}</span>}
          </Link>
        ))}
        <Link href={paths.submit} class={`submit${isHere(paths.submit) ? " here" : ""}`} aria-current={isHere(paths.submit) ? "page" : undefined}>Submit a job</Link>
      </nav>
      <div class="who">
        <Scheme />
        <span>{session.user}{session.role === "operate" ? ", operator" : ""}</span>
        <button class="plain" onClick={onEnd}>Sign out</button>
      </div>
    </header>
  );
}

function ConnectionBar() {
  const connection = useConnection();
  const now = useNow();
  if (connection.state !== "lost") return <div class="connection" role="status" />;
  const retry = connection.retryAt === null ? "Trying again …" : `Trying again in ${duration(Math.max(0, connection.retryAt - now))}.`;
  return (
    <div class="connection lost" role="status">
      <span><b>The connection is lost</b> since {duration(now - connection.since)}: {connection.why}. What is shown may be old. {retry}</span>
      <button onClick={() => live.tryNow()}>Try now</button>
    </div>
  );
}

type SchemeName = "system" | "light" | "dark";

function Scheme() {
  const [scheme, setScheme] = useState<SchemeName>(() => (localStorage.getItem("scheme") as SchemeName | null) ?? "system");
  useEffect(() => {
    if (scheme === "system") delete document.documentElement.dataset.scheme;
    else document.documentElement.dataset.scheme = scheme;
    localStorage.setItem("scheme", scheme);
    schemeChanged();
  }, [scheme]);
  return (
    <label class="scheme">Colours
      <select value={scheme} onChange={(event) => setScheme(event.currentTarget.value as SchemeName)}><option>system</option><option>light</option><option>dark</option></select>
    </label>
  );
}
