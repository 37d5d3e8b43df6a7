import type { VNode } from "preact";

export type * from "preact";
export { h, render, Fragment, createContext, Component, options } from "preact";
export { useState, useEffect, useLayoutEffect, useMemo, useCallback, useContext, useErrorBoundary, useId } from "preact/hooks";
export { useSignal, useComputed, useSignalEffect } from "@preact/signals";
export { createPortal, memo } from "preact/compat";
/** An element's: Preact fills it in before effects and handlers run. */
export function useRef<E extends Element>(initial: null): { current: E };
export function useRef<T>(initial: T): { current: T };
export function createRef<E extends Element>(): { current: E };
/** Several elements beside each other are an array. */
export function html(strings: TemplateStringsArray, ...values: unknown[]): VNode | VNode[];
