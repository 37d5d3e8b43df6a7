// Defines the types of pushes, and of requests by method and path. They map each request in the page's code
// to its endpoint in api.d.ts. Only for the type check; not served.

import type {
  Code,
  Endpoints,
  Greeting,
  Message,
  Notifications,
  Permissions,
  Pushes,
  Requests,
  Resumption,
  Unread,
} from "./api.js";

/** A path without its query, with `{}` in place of every part that is known only at run time. */
type Pattern<P extends string> = P extends `${infer Path}?${string}` ? Parts<Path> : Parts<P>;
type Parts<P extends string> = P extends `${infer First}/${infer Rest}`
  ? `${Part<First>}/${Parts<Rest>}`
  : Part<P>;
type Part<P extends string> = string extends P ? "{}" : P;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Exact<M extends Method, P extends string> = `${M} ${Pattern<P>}` & keyof Endpoints;
type Alike<M extends Method, P extends string> = keyof Endpoints extends infer R
  ? R extends `${M} ${infer Q}`
    ? P extends Filled<Q>
      ? R
      : never
    : never
  : never;
/** The endpoint of a path. If a part has several possible values, the union of all matching endpoints. */
export type Route<M extends Method, P extends string> = [Exact<M, P>] extends [never]
  ? Alike<M, P> & keyof Endpoints
  : Exact<M, P>;

/** The paths that exist for a method, with or without a query. */
export type Path<M extends Method> = WithQuery<
  keyof Endpoints extends infer R ? (R extends `${M} ${infer P}` ? P : never) : never
>;
type WithQuery<P extends string> = P extends string ? Filled<P> | `${Filled<P>}?${string}` : never;
type Filled<P extends string> = P extends `${infer Before}{}${infer After}`
  ? `${Before}${string}${Filled<After>}`
  : P;

export type ResponseBody<M extends Method, P extends string> = Endpoints[Route<M, P>]["response"];
export type Body<M extends Method, P extends string> = Endpoints[Route<M, P>] extends { body: infer B }
  ? B
  : Record<string, never>;

export type Data<E extends keyof Requests> = Requests[E]["data"];
export type Reply<E extends keyof Requests> = Requests[E]["reply"];

/** Any push, distinguished by its event. */
export type Push = { [E in keyof Pushes]: { event: E; data: Pushes[E] } }[keyof Pushes];

/** The body of an error response; some codes have further fields. */
export type ErrorBody = {
  error: Code | OwnCode;
  message?: string;
  retry_after_ms?: number;
  limit?: number;
  rule?: string;
  reason?: string;
};
/** Error codes that the page creates itself. */
type OwnCode = "signed_out" | "sign_in_again";

/** The class of an object with typed events. `detail` has a type for each event's name. */
export type TypedEventTarget<Events> = new () => Pick<
  EventTarget,
  "dispatchEvent" | "removeEventListener"
> & {
  addEventListener<E extends keyof Events>(
    type: E,
    listener: (event: CustomEvent<Events[E]>) => void,
    options?: AddEventListenerOptions,
  ): void;
};

export type Info = Endpoints["GET /info"]["response"];
export type Permission = Permissions[number];
export type Counts = Omit<Unread, "channel_id">;
export type Choice = Omit<Notifications, "channel_id">;
/** The stored messages of a channel, and the stored state of the server. */
export type StoredPage = { messages: Message[]; more_before: boolean; at_ms: number };
export type Scene = Pick<Greeting, "member" | "channels" | "permissions" | "roles" | "emoji"> & {
  info: Info | null;
  unread: { [channelId: string]: Counts };
  notifications: [string | null, Choice][];
  at_ms: number;
  pages: Map<string, StoredPage>;
};

/** The content of a notification, from a push or from an event that an open page has received. */
export type NotificationContent = {
  kind?: "mention" | "message" | "call";
  channel_id?: string;
  channel?: string;
  message_id?: string;
  talk_id?: string;
  author?: string;
  text?: string;
  files?: number;
};
/** The location that a click on a notification opens. */
export type NotificationTarget = { channelId?: string; messageId?: string; conversationId?: string };

/** A push as the arguments of `hear`. */
export type PushArguments = { [E in keyof Pushes]: [event: E, data: Pushes[E]] }[keyof Pushes];
/** Fields that many pushes share. */
export type About = { channel_id?: string; id?: string; member_id?: string; thread?: string | null };
export type Listener = {
  onGreeting?: (greeting: Greeting) => void;
  onStoredScene?: (scene: Scene) => void;
  onResumption?: (present: Resumption) => void;
  onPush?: (...push: PushArguments) => void;
  onSignOut?: () => void;
};

/** A function that builds an object's path from its id, and the paths below it. */
export type PathOf<Base extends string> = <Rest extends string = "">(
  id: string,
  rest?: Rest,
) => `${Base}/${string}${Rest}`;
