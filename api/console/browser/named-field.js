/** A field for the name of one that there is: those that the server finds by what is typed are offered. */
import { field, make } from './dom.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const MAX_OFFERED = 50
const TYPING_MS = 300
/** The one that is meant may stand behind others that have its name within theirs. */
const MAX_PAGES = 20

/**
 * @param {object} parts
 * @param {string} parts.label
 * @param {string} parts.name of the input
 * @param {string} parts.one what it is, in words
 * @param {() => string} parts.path of the list
 * @param {string} [parts.sort] the member that is its name
 * @param {boolean} [parts.required]
 * @param {() => unknown} [parts.onTyped] a moment after the last letter
 */
export function namedField({ label, name, one, path, sort = 'name', required = true, onTyped = () => undefined }) {
  const options = make('datalist', { id: `offered-${name}` })
  const { input, row } = field(label, { name, list: options.id, required, autocomplete: 'off' })
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing
  input.addEventListener('input', () => {
    clearTimeout(typing)
    typing = setTimeout(() => void offer().then(onTyped), TYPING_MS)
  })
  input.addEventListener('focus', () => void offer())
  return { input, row, options, find }

  /** Throws, in words, where none has the name. @returns {Promise<Json>} */
  async function find() {
    const wanted = input.value.trim()
    for (let page = 0; page < MAX_PAGES; page++) {
      const { data, hasNext } = await found(page)
      const same = data.find((/** @type {Json} */ each) => each[sort] === wanted)
      if (same !== undefined) return same
      if (!hasNext) break
    }
    throw new Error(`There is no ${one} of this name: choose one of those that are offered.`)
  }

  async function offer() {
    // Where none can be read none are offered; the form says why when it is sent.
    const { data } = await found(0).catch(() => ({ data: [] }))
    options.replaceChildren(...data.map((/** @type {Json} */ each) => make('option', { value: each[sort] })))
  }

  /** @param {number} page */
  function found(page) {
    const text = input.value.trim()
    const paging = { pageSize: String(MAX_OFFERED), page: String(page), sortProperty: sort, sortOrder: 'ASC' }
    return call('GET', `${path()}?${new URLSearchParams({ ...paging, ...(text === '' ? {} : { textSearch: text }) })}`)
  }
}
