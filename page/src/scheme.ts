// The colours that were chosen, before anything is painted: index.html has this in its head, not as a module, so that the browser waits for
// it. Nothing may stand inline (the gateway's Content-Security-Policy).
const scheme = localStorage.getItem("scheme");
if (scheme === "light" || scheme === "dark") document.documentElement.dataset.scheme = scheme;

export {};
