/**
 * Loaded before Millrace (`--import`) where a test watches what runs: the program sees one rule node more, and a rule engine that
 * notes which try of a message runs. Production code has no part in it: two of its modules are found here instead.
 */
import { registerHooks } from 'node:module'

const INSTEAD: readonly (readonly [module: string, ours: string])[] = [
  ['/nodes/catalogue.ts', new URL('run-log-catalogue.ts', import.meta.url).href],
  ['/engine/rulechain/rule-engine.ts', new URL('observed-rule-engine.ts', import.meta.url).href],
]

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const instead = INSTEAD.find(([module]) => found.url.endsWith(module))
    // What stands in for a module finds the module itself.
    if (instead === undefined || context.parentURL === instead[1]) return found
    return { ...found, url: instead[1] }
  },
})
