// tocsin.d.ts 0.1.0: the types of tocsin.js.

/**
 * Why something failed. `code` is one of the server's (its page on errors), or: BAD_ADDRESS, CONNECTION_FAILED,
 * TIMED_OUT, BAD_ANSWER, CANCELLED, TOPIC_NOT_FOUND, SIGNED_OUT.
 */
export class TocsinError extends Error {
  readonly code: string;
  /** All errors of the response. */
  readonly errors?: unknown[];
  readonly path?: (string | number)[];
  /** With CURSOR_EXPIRED and BAD_CURSOR: where a feed can begin. */
  readonly oldestCursor?: string;
  /** What came beside the errors. */
  readonly data?: unknown;
  /** In seconds. */
  readonly retryAfter?: number;
}

export interface TokenRequest {
  /** `refused`: the server did not take the last token. */
  reason: "first" | "expiring" | "refused";
  /** How often the provider has failed since it last succeeded. */
  failures: number;
}
export type AccessToken = string | { token: string; expiresAt?: number | Date | null };

export interface Place {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

export interface TocsinOptions {
  /** The server's address, such as `https://push.example.com`. */
  url: string;
  /** A token, or a function that gets one; null from the function means that nobody is signed in. */
  token?: string | ((request: TokenRequest) => AccessToken | null | Promise<AccessToken | null>);
  apiKey?: string;
  /** Where places are kept; `localStorage` by default. */
  storage?: Place | null;
  fetch?: typeof fetch;
  WebSocket?: unknown;
  random?: () => number;
  /** Milliseconds since 1970. */
  now?: () => number;
}

export interface MessageDraft {
  title: string;
  body?: string;
  type?: number;
  /** 1 (least) to 5 (critical). */
  priority?: number;
  url?: string;
  key?: string;
  category?: string;
  expiresAt?: string;
  /** Texts for the app. */
  data?: Record<string, unknown> | string;
  push?: Record<string, unknown>;
  /** Made once when it is left out. */
  id?: string;
}
export interface PublishedMessage { id: string; number: number; cursor: string; topicId: string; createdAt: string }
export interface FeedMessage {
  id: string;
  /** Counts 1, 2, 3 … in its topic. */
  number: number;
  /** Where it stands, for `after`. */
  cursor: string;
  type: number;
  title: string;
  body: string;
  createdAt: string;
  priority: number;
  url: string | null;
  /** JSON. */
  data: string | null;
  category: string | null;
  topicId: string;
}

export type FeedState =
  | { state: "connecting" }
  | { state: "live" }
  | { state: "waiting"; error: TocsinError; pause: number }
  /** Of `subscribe` alone: events may have been missed. */
  | { state: "gap" };
export interface FeedOptions { signal?: AbortSignal; onState?: (event: FeedState) => void }
export interface FollowOptions extends FeedOptions {
  /** The cursor behind which the feed begins; `""` is the first message that is kept. Without it: now. */
  after?: string;
  /** Under this name the place is kept in `storage` after each message that was handled. */
  place?: string;
}
export interface RequestOptions { signal?: AbortSignal }

export interface Tocsin {
  readonly url: string;
  readonly storage: Place | null;
  query(document: string, variables?: Record<string, unknown>, options?: RequestOptions): Promise<any>;
  mutate(document: string, variables?: Record<string, unknown>, options?: RequestOptions): Promise<any>;
  publish(topicId: string, draft: MessageDraft, options?: RequestOptions): Promise<PublishedMessage>;
  follow(topicId?: string | null, options?: FollowOptions): AsyncGenerator<FeedMessage, void>;
  subscribe(document: string, variables?: Record<string, unknown>, options?: FeedOptions): AsyncGenerator<any, void>;
  networkChanged(): void;
  close(): void;
}
export function createTocsin(options: TocsinOptions): Tocsin;

export interface WebPushOutcome {
  state: "registered" | "needs-gesture" | "dismissed" | "denied" | "unavailable";
  deviceId?: string;
  reason?: string;
}
export function canPush(): { ok: true } | { ok: false; reason: string };
export function registerWebPush(client: Tocsin, options?: { worker?: string; userGesture?: boolean }): Promise<WebPushOutcome>;
export function unregisterWebPush(client: Tocsin): Promise<boolean>;

export interface BridgeNames { token: string; platform: string; handler: string; object: string }
export function configureBridge(names: Partial<BridgeNames>): void;
export function getMobilePlatform(): "ios" | "android" | null;
export function isMobileWebView(): boolean;
export function isIOSWebView(): boolean;
export function isAndroidWebView(): boolean;
export function getNativeAuthToken(): string | null;
export function sendBridgeMessage(action: string, data?: Record<string, unknown>): boolean;
