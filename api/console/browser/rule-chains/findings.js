/** What `chain check` says of a rule chain as it is saved: each finding leads to its node. */
import { make } from '../dom.js'

/** @typedef {{ severity: 'error' | 'warning', nodeIndex: number | null, text: string }} Finding */

const MEANT = { error: 'does not run', warning: 'runs, and not as drawn' }

/** @param {(index: number) => void} choose */
export function findingsList(choose) {
  const element = make('section', { 'aria-label': 'Findings' })
  element.hidden = true
  return {
    element,
    /** Of the graph that was saved. @param {readonly Finding[]} findings @param {readonly { name: string }[]} nodes */
    show(findings, nodes) {
      element.hidden = findings.length === 0
      element.replaceChildren(
        make(
          'ul',
          {},
          ...findings.map(({ severity, nodeIndex, text }) => make('li', {}, ...line(severity, nodeIndex, text))),
        ),
      )
      /** @param {Finding['severity']} severity @param {number | null} index @param {string} text */
      function line(severity, index, text) {
        const mark = make('strong', { class: severity === 'error' ? 'wrong' : 'mark' }, MEANT[severity])
        if (index === null) return [mark, ` ${text}`]
        const name = nodes[index]?.name ?? ''
        return [
          make('button', { type: 'button', class: 'plain', click: () => choose(index) }, name),
          ' ',
          mark,
          ` ${text}`,
        ]
      }
    },
  }
}
