import type { VNode } from "preact";

export { h, render, Fragment, createContext, createRef, Component, options } from "preact";
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useContext, useErrorBoundary, useId } from "preact/hooks";
export { useSignal, useComputed, useSignalEffect } from "@preact/signals";
export { createPortal, memo } from "preact/compat";
/** Several elements beside each other are an array. */
export function html(strings: TemplateStringsArray, ...values: unknown[]): VNode | VNode[];
