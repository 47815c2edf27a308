var e=localStorage.getItem("scheme");(e==="light"||e==="dark")&&(document.documentElement.dataset.scheme=e);
