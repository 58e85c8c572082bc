/** Saves a graph. Where somebody else saved meanwhile, it asks what becomes of both. */
import { ask } from '../dialog.js'
import { make, timeText } from '../dom.js'
import { Refused, call } from '../session.js'
import { downloadJson } from './download.js'
import { exportOf, fileNameOf } from './file.js'
import { contested, difference } from './difference.js'
import { graphOf, metadataOf, savedGraph } from './graph.js'

const CONFLICT = 409
const OVER = 'Save mine over theirs'
const MAX_LINES = 12
const AS_FILE = 'Keep mine as a file'

/** @typedef {import('./graph.js').Graph} Graph */
/** @typedef {{ id: import('./graph.js').Id, name: string, root: boolean, tenantId: import('./graph.js').Id }} RuleChain */

/** @param {import('./state.js').State} state @param {RuleChain} chain @returns {Promise<boolean>} whether it is saved. Rejects with the server's no. */
export async function save(state, chain) {
  const sent = state.graph()
  try {
    const answer = await call('POST', '/api/ruleChain/metadata', metadataOf(sent, chain.id, state.version()))
    state.saved(sent, savedGraph(sent, answer), answer.version)
    return true
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== CONFLICT) throw error
  }
  const saved = await call('GET', `/api/ruleChain/${chain.id.id}/metadata`)
  const theirs = make('a', { href: `/ruleChains/${chain.id.id}`, target: '_blank' }, 'See theirs in another tab')
  const text =
    'Nothing of yours is lost: it is still here. What they saved stays a version of the rule chain, which can be restored, whichever you choose.'
  const answer = await ask(
    'Somebody else saved this rule chain meanwhile',
    [
      make('p', {}, await whoSaved(chain.id.id)),
      ...differences(state.base(), graphOf(saved), state.graph()),
      make('p', {}, text),
      make('p', {}, theirs),
    ],
    [OVER, AS_FILE],
  )
  if (answer === AS_FILE)
    downloadJson(fileNameOf(chain.name), exportOf(chain, metadataOf(state.graph(), chain.id, undefined)))
  if (answer !== OVER) return false
  state.sawVersion(saved.version)
  return save(state, chain)
}

/** What each of the two did, and what both did. @param {Graph} base @param {Graph} theirs @param {Graph} mine */
function differences(base, theirs, mine) {
  const [other, own] = [difference(base, theirs), difference(base, mine)]
  const both = contested(own, other)
  return [
    ...listed('They:', other.lines),
    ...listed('You:', own.lines),
    ...(both.length === 0
      ? []
      : [make('p', { class: 'wrong' }, `Both changed ${both.map((name) => `"${name}"`).join(', ')}.`)]),
  ]
}

/** @param {string} title @param {readonly string[]} lines */
function listed(title, lines) {
  const shown = lines.slice(0, MAX_LINES)
  const more = lines.length > MAX_LINES ? [`and ${lines.length - MAX_LINES} more`] : []
  const all = lines.length === 0 ? ['nothing but places on the drawing, or what is noted'] : [...shown, ...more]
  return [make('p', {}, title), make('ul', {}, ...all.map((line) => make('li', {}, line)))]
}

/** @param {string} id */
async function whoSaved(id) {
  // Where it can not be read, the question stands all the same.
  const [last] = await call('GET', `/api/ruleChain/${id}/versions`).catch(() => [])
  return last === undefined ? '' : `${last.authorName ?? 'The server'} saved it at ${timeText(last.createdTime)}.`
}
