/** Hands a file to whoever looks at the page. */
import { make } from '../dom.js'
import { call } from '../session.js'
import { exportOf, fileNameOf } from './file.js'

/** @param {string} fileName @param {unknown} value */
export function downloadJson(fileName, value) {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(value, null, 2)}\n`], { type: 'application/json' }))
  make('a', { href: url, download: fileName }).click()
  URL.revokeObjectURL(url)
}

/** As it is saved. @param {string} id */
export async function downloadChain(id) {
  const [chain, metadata] = await Promise.all([
    call('GET', `/api/ruleChain/${id}`),
    call('GET', `/api/ruleChain/${id}/metadata`),
  ])
  downloadJson(fileNameOf(chain.name), exportOf(chain, metadata))
}
