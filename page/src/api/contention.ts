// Contention of servers, racks or platforms, page by page.
import type { Contention, ContentionRow } from "./types";
import { type Answer, useLoaded } from "./cache";
import { get, query } from "./client";

const kPage = 2_000;

export interface ContentionQuery {
  by: "server" | "platform" | "rack" | "bucket";
  platform?: string;
  rack?: string;
  bucket?: string;
}

async function load(asked: ContentionQuery): Promise<ContentionRow[]> {
  const rows: ContentionRow[] = [];
  let after: string | null = null;
  do {
    const page: Contention = await get(`/contention${query({ ...asked, limit: kPage, after })}`);
    rows.push(...page.rows);
    after = page.next;
  } while (after !== null);
  return rows;
}

export function useContention(asked: ContentionQuery): Answer<ContentionRow[]> {
  return useLoaded(`/contention${query({ ...asked })}`, () => load(asked), { server: true, violation: true });
}
