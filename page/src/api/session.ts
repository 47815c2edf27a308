// Who is signed in. A word behind "#" is exchanged for a cookie and taken out of the address before anything else is done.
import type { Session } from "./types";
import { ApiError, get, post } from "./client";
import { wordOf } from "../model/paths";

export type SignIn = { session: Session } | { problem: string | null };

export async function exchange(word: string): Promise<SignIn> {
  try {
    return { session: await post<Session>("/session", { json: { word } }) };
  } catch (cause) {
    return { problem: cause instanceof ApiError ? cause.message : String(cause) };
  }
}

export async function signIn(): Promise<SignIn> {
  const word = wordOf(location.hash);
  if (location.hash !== "") history.replaceState(history.state, "", location.pathname + location.search);
  if (word !== null) {
    const answer = await exchange(word);
    if ("session" in answer) return answer;
    // Somebody who is signed in already and opens an old address stays so.
    const present = await presentSession();
    return "session" in present ? present : answer;
  }
  return presentSession();
}

async function presentSession(): Promise<SignIn> {
  try {
    return { session: await get<Session>("/session") };
  } catch (cause) {
    const isStranger = cause instanceof ApiError && cause.status === 401;
    return { problem: isStranger ? null : cause instanceof ApiError ? cause.message : String(cause) };
  }
}

export async function signOut(): Promise<void> {
  await post("/session/end");
}
