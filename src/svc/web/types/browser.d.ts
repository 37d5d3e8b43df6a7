// Declares browser APIs that TypeScript's own declarations lack. Only for the type check; not served.

interface TrustedTypePolicy {
  createScriptURL(address: string): string;
}

/**
 * The part of Trusted Types (W3C) that the page uses. Browsers without Trusted Types accept plain strings.
 */
declare var trustedTypes:
  | { createPolicy(name: string, rules: Partial<TrustedTypePolicy>): TrustedTypePolicy }
  | undefined;

/** The event that Chromium fires when the page can be installed. */
interface BeforeInstallPromptEvent extends Event {
  prompt(): Promise<unknown>;
}

interface WindowEventMap {
  beforeinstallprompt: BeforeInstallPromptEvent;
}

interface Navigator {
  /** Only in Safari: whether the page is installed. */
  standalone?: boolean;
}

/** A part of the page in a window that stays on top of other windows. Only in Chromium. */
interface Window {
  documentPictureInPicture?: { requestWindow(size: { width: number; height: number }): Promise<Window> };
}

interface AudioContext {
  /** Present if the browser lets the page choose an output device. */
  setSinkId?(id: string): Promise<void>;
}

interface DisplayMediaStreamOptions {
  systemAudio?: "include" | "exclude";
  windowAudio?: "exclude" | "window" | "system";
}

/** Excludes this page's audio from a screen's audio. Only in Chromium. */
interface MediaTrackSupportedConstraints {
  restrictOwnAudio?: boolean;
}
interface MediaTrackConstraintSet {
  restrictOwnAudio?: boolean;
}
interface MediaTrackSettings {
  restrictOwnAudio?: boolean;
}

interface RTCConfiguration {
  /** Only in Chromium: frames cannot bypass a transform that is set later. */
  encodedInsertableStreams?: boolean;
}

interface RTCRtpEncodingParameters {
  /** A field from the WebRTC-SVC specification. */
  scalabilityMode?: string;
  codec?: RTCRtpCodec;
}

/** An event whose `currentTarget` is the listener's element and whose `target` is within that element. */
type EventOn<Listening extends Element = HTMLElement, Kind extends Event = Event> = Kind & {
  readonly currentTarget: Listening;
  readonly target: Element;
};

/** A form, with its fields by name. */
type FormWith<Names extends string, Field extends Element = HTMLInputElement> = HTMLFormElement & {
  readonly elements: { readonly [Name in Names]: Field };
};

/** Every element of the page is HTML, SVG or MathML, and all of these can be focused. */
interface Element extends HTMLOrSVGElement {}
