/**
 * Where this server does otherwise than the recorded cases of rule nodes, path by path, and what is not built yet. The replay fails for a
 * difference that is not listed, and for a listed one that is none any more.
 */
import type { DeliberateDifference } from './golden-answers.ts'

/** Of all cases: those that may differ on purpose. */
export const MAX_SHARE = 0.03

/** Case to what this server does at paths of its expectation, such as `steps.0.T.1.relation`. */
export const NODE_DIFFERENCES: Readonly<Record<string, DeliberateDifference>> = {}

/** What is not built, to the cases that need it. The list only gets shorter: who builds it takes its lines out. */
const WANTING: Readonly<Record<string, readonly string[]>> = {}

/** Case to what it needs. */
export const NOT_BUILT: ReadonlyMap<string, string> = new Map(
  Object.entries(WANTING).flatMap(([what, cases]) => cases.map((name): [string, string] => [name, what])),
)
