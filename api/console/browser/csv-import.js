/** Devices or assets from a file of comma-separated values: what each column holds is chosen before anything is sent. */
import { choice, field, form, make, messageOf, shortened, table } from './dom.js'
import { columnsOf, delimiterOf, firstLines, guessed } from './csv-shapes.js'
import { call } from './session.js'

/** The server takes 16 MiB as JSON. */
const LARGEST_BYTES = 8_000_000

/**
 * @param {object} parts
 * @param {'device' | 'asset'} parts.one
 * @param {typeof import('./csv-shapes.js').ASSET_COLUMNS} parts.offered
 * @param {() => Promise<unknown>} parts.onChange
 */
export function csvImport({ one, offered, onChange }) {
  const file = field('File, of comma-separated values (CSV)', {
    type: 'file',
    name: 'csv',
    accept: '.csv,.txt,text/csv',
    required: true,
  })
  const update = make('input', { type: 'checkbox', name: 'update', checked: true })
  const columns = make('div', { role: 'status' })
  const refused = make('div', { role: 'status' })
  /** Of the file that is shown. @type {{ text: string, delimiter: string, heads: readonly string[], chosen: readonly HTMLSelectElement[] } | undefined} */
  let read
  file.input.addEventListener('change', () => void show())

  const sending = form(
    'Import the file',
    [
      file.row,
      make(
        'p',
        {},
        `Its first line names the columns, each other line is one ${one}; one that is there already by its name is changed.`,
      ),
      columns,
      make(
        'label',
        { class: 'tick' },
        update,
        `Write attributes and time series of each ${one} that is there already, too`,
      ),
    ],
    async () => {
      refused.replaceChildren()
      if (read === undefined) throw new Error('Choose another file.')
      const { text, delimiter, heads, chosen } = read
      const mapping = {
        columns: columnsOf(heads.map((head, index) => ({ head, type: chosen[index]?.value ?? '' }))),
        delimiter,
        header: true,
        update: update.checked,
      }
      const { created, updated, errors, errorsList } = await call('POST', `/api/${one}/bulk_import`, {
        file: text,
        mapping,
      })
      if (errors > 0)
        refused.replaceChildren(
          make(
            'p',
            { class: 'wrong' },
            'Of a refused line nothing is kept: mend it in the file, and import the file again.',
          ),
          table(
            'Refused lines',
            ['Why'],
            errorsList.map((/** @type {string} */ line) => [inWords(line)]),
          ),
        )
      await onChange()
      return `${created.toLocaleString()} made, ${updated.toLocaleString()} changed, ${errors.toLocaleString()} refused.`
    },
  )
  return make('details', {}, make('summary', {}, `Import ${one}s from a file`), sending, refused)

  async function show() {
    read = undefined
    refused.replaceChildren()
    columns.replaceChildren()
    const chosen = file.input.files?.[0]
    if (chosen === undefined) return
    try {
      columns.replaceChildren(await shown(chosen))
    } catch (error) {
      columns.replaceChildren(make('p', { class: 'wrong', role: 'alert' }, messageOf(error)))
    }
  }

  /** @param {File} chosen */
  async function shown(chosen) {
    if (chosen.size > LARGEST_BYTES)
      throw new Error(`${chosen.name} is too large for this page: "npm start -- import FILE" takes it, however large.`)
    const text = await chosen.text()
    if (text.includes('\uFFFD')) throw new Error(`${chosen.name} is not UTF-8: save it once more as "CSV UTF-8".`)
    const delimiter = delimiterOf(text)
    const [heads, first] = firstLines(text, delimiter, 2)
    if (heads === undefined || first === undefined)
      throw new Error(`${chosen.name} has no line below the one that names the columns.`)
    const choices = heads.map((head, index) => choice('', `column-${index}`, offered, guessed(head, offered)).input)
    for (const [index, input] of choices.entries()) input.setAttribute('aria-label', `What "${heads[index]}" is`)
    read = { text, delimiter, heads, chosen: choices }
    const rows = heads.map((head, index) => [head, shortened(first[index] ?? ''), choices[index] ?? ''])
    return table('Its columns', ['Column', 'First value', 'Is'], rows)
  }
}

/** Without the name that the reference has for the kind of error. @param {string} line */
function inWords(line) {
  return line.replace(/^(Line \d+: )\w+Exception: /, '$1')
}
