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
