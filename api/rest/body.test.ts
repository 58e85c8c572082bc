import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { configuration } from '../../model/calculated-fields/configuration.ts'
import { MAX_JSON_DEPTH, parseJson } from '../../model/json.ts'
import { userPreferencesSchema } from '../../services/notifications/settings.ts'
import { scriptTest } from '../../services/rule-chains/test-script.ts'
import { securitySettingsSchema } from '../../services/users/security-settings.ts'
import { processorMs } from '../../test/support/processor-time.ts'
import { anyJson, validated } from './body.ts'
import { searchParameters } from './relation-routes.ts'
import { drawnSchema } from './rule-chain-routes.ts'

const MAX_BYTES = 1 << 18
const deepest = MAX_JSON_DEPTH - 4

const list = (element: string): string =>
  `[${Array.from({ length: MAX_BYTES / (element.length + 1) }, () => element).join()}]`
const map = (member: string): string => {
  const length = MAX_BYTES / (member.length + 10)
  return `{${Array.from({ length }, (_, index) => `"${String(index).padStart(6, '0')}":${member}`).join()}}`
}
const SHAPES: readonly string[] = [
  ...['{}', '"1"', '1', 'null', '[]', '{"type":"1","fromIndex":"1"}', '{"type":1,"toIndex":"x"}'].map(list),
  ...['{}', '"1"', '1', 'null', '{"type":"1"}'].map(map),
  list(`${'['.repeat(deepest)}${']'.repeat(deepest)}`),
  `${'{"a":'.repeat(deepest)}${list('1')}${'}'.repeat(deepest)}`,
  `"${'x'.repeat(MAX_BYTES)}"`,
]

/** The bodies of these, each member in turn in a shape of its own. */
const ROUTES: readonly (readonly [string, z.ZodType, members: readonly string[], others: string])[] = [
  ['a rule chain', drawnSchema, ['nodes', 'connections', 'ruleChainConnections', 'notes'], '"firstNodeIndex":"0"'],
  ['a script to try', scriptTest, ['script', 'argNames', 'metadata'], '"msg":"{}","msgType":"A","scriptType":"update"'],
  ['a relation search', z.object({ parameters: searchParameters }), ['parameters'], '"filters":[]'],
  ['preferences', userPreferencesSchema, ['prefs'], '"a":1'],
  [
    'security settings',
    securitySettingsSchema,
    ['passwordPolicy', 'mobileSecretKeyLength'],
    '"maxFailedLoginAttempts":"3"',
  ],
  [
    'a calculated field',
    configuration,
    ['arguments', 'metrics', 'zoneGroups', 'output'],
    '"type":"SIMPLE","expression":"a"',
  ],
]

test('the largest body of any shape takes no more than a small multiple of one that fits', () => {
  const fits = `{"list":${list('{"fromIndex":1,"toIndex":1,"type":"a"}')}}`
  const fitting = z.object({
    list: z.array(z.object({ fromIndex: z.int(), toIndex: z.int(), type: z.string() })),
  })
  const plain = leastMs(() => validated(parseJson(fits), fitting))
  for (const [name, schema, members, others] of ROUTES)
    for (const member of members)
      for (const shape of SHAPES) {
        const text = `{${others},"${member}":${shape}}`
        // By what bodies of the same size cost of which nothing is asked, and that are read member by member and fit.
        const bound = 8 * (plain + leastMs(() => validated(parseJson(text), anyJson), 1))
        const took = leastMs(() => attempt(() => validated(parseJson(text), schema)), 5, bound)
        assert.ok(took <= bound, `${name}, ${member} ${shape.slice(0, 30)}: ${took} ms, ${bound} at most`)
      }
})

function attempt(read: () => unknown): void {
  try {
    read()
  } catch {
    // Refused or not: what counts is the time.
  }
}

/** Of so many tries, the collector of garbage being at work in some: none more once one is within the bound. */
function leastMs(work: () => unknown, tries = 3, enough = 0): number {
  let least = Infinity
  for (let left = tries; left > 0 && least > enough; left -= 1) {
    const from = processorMs()
    work()
    least = Math.min(least, processorMs() - from)
  }
  return least
}
