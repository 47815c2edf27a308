// For those who are not signed in: how to get an address that does it.
import { useState } from "preact/hooks";
import { type SignIn, exchange } from "../api/session";
import { pastedWord } from "../model/paths";

export function SignInPage({ problem, onSignIn }: { problem: string | null; onSignIn: (answer: SignIn) => void }) {
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState<string | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    const word = pastedWord(text);
    if (word === null) return setWrong("That is no address as tarcil page prints it: it ends in # and a word.");
    setWrong(null);
    onSignIn(await exchange(word));
  };
  const shown = wrong ?? problem;
  return (
    <main class="signin" id="main">
      <h1>tarcil</h1>
      <p>Sign in with the command line, where you use the cluster:</p>
      <p><code class="command">tarcil page</code></p>
      <p>Open the address that it prints. It works once, for five minutes.</p>
      {shown !== null && <p class="problem" role="alert">{shown}</p>}
      <form onSubmit={(event) => void submit(event)}>
        <label>Or paste it here <input value={text} autoComplete="off" spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} /></label>
        <button class="first" type="submit">Sign in</button>
      </form>
    </main>
  );
}
