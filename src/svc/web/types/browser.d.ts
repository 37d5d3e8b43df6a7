// What browsers have and TypeScript's own declarations lack. Only for the check of types; it is not served.

interface TrustedTypePolicy {
  createScriptURL(address: string): string;
}

/** Trusted Types (W3C), as far as the page uses them; where a browser has none it takes the text itself. */
declare var trustedTypes: { createPolicy(name: string, rules: Partial<TrustedTypePolicy>): TrustedTypePolicy } | undefined;

/** What Chromium says when the page may be installed. */
interface BeforeInstallPromptEvent extends Event {
  prompt(): Promise<unknown>;
}

interface WindowEventMap {
  beforeinstallprompt: BeforeInstallPromptEvent;
}

interface Navigator {
  /** Only in Safari: is the page installed? */
  standalone?: boolean;
}

/** What is drawn of the page in a window that stays above others. Only in Chromium. */
interface Window {
  documentPictureInPicture?: { requestWindow(size: { width: number; height: number }): Promise<Window> };
}

interface AudioContext {
  /** Where the browser lets the page choose a loudspeaker. */
  setSinkId?(id: string): Promise<void>;
}

interface DisplayMediaStreamOptions {
  systemAudio?: "include" | "exclude";
  windowAudio?: "exclude" | "window" | "system";
}

/** Of the sound of a screen, that what this page plays is left out. Only in Chromium. */
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
  /** Only in Chromium: no frame goes past a transform that is set later. */
  encodedInsertableStreams?: boolean;
}

interface RTCRtpEncodingParameters {
  /** WebRTC-SVC. */
  scalabilityMode?: string;
  codec?: RTCRtpCodec;
}

/** What a listener on an element of the page is given: the element that it listens on, and the one in it that is meant. */
type EventOn<Listening extends Element = HTMLElement, Kind extends Event = Event> = Kind & { readonly currentTarget: Listening; readonly target: Element };

/** A form, and its fields by their names. */
type FormWith<Names extends string, Field extends Element = HTMLInputElement> = HTMLFormElement & { readonly elements: { readonly [Name in Names]: Field } };

/** Each element of the page is one of HTML, SVG or MathML: all of these can have the focus. */
interface Element extends HTMLOrSVGElement {}
