/** Devices or assets from a file of comma-separated values: what each column holds is chosen before anything is sent. */
import { choice, field, form, make, messageOf, shortened, table, tell } from './dom.js'
import { delimiterOf, firstLines, quoteScan } from './csv-header.js'
import { columnsOf, guessed } from './csv-shapes.js'
import { call } from './session.js'

/** The server takes 16 MiB as JSON. */
const LARGEST_BYTES = 8_000_000
/** Refused lines: one wrong column refuses all of a file, and a page of so many rows stands still. */
const MAX_SHOWN = 100

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
  const told = make('p', { role: 'status' })
  const columns = make('div')
  const refused = make('div')
  /** Of the file that is shown. @type {{ text: string, delimiter: string, heads: readonly string[], chosen: readonly HTMLSelectElement[] } | undefined} */
  let read
  let reading = Promise.resolve()
  let turn = 0
  /** What was chosen by the head of the column: a file that was mended and is chosen again has it. @type {Map<string, string>} */
  const earlier = new Map()
  file.input.addEventListener('change', () => (reading = show()))
  file.input.addEventListener('click', () => {
    // Browsers tell of no change where the same file is chosen again, and it may have been mended since.
    file.input.value = ''
    reading = show()
  })

  const sending = form(
    'Import the file',
    [
      file.row,
      make(
        'p',
        {},
        `Its first line names the columns, each other line is one ${one}; one that is there already by its name is changed.`,
      ),
      told,
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
      await reading
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
      if (errors > 0) refused.replaceChildren(...refusedLines(errorsList))
      await onChange()
      return `${created.toLocaleString()} made, ${updated.toLocaleString()} changed, ${errors.toLocaleString()} refused.`
    },
  )
  return make('details', {}, make('summary', {}, `Import ${one}s from a file`), sending, refused)

  async function show() {
    const own = ++turn
    for (const [index, { value }] of read?.chosen.entries() ?? []) earlier.set(read?.heads[index] ?? '', value)
    read = undefined
    refused.replaceChildren()
    columns.replaceChildren()
    tell(told, '')
    const chosen = file.input.files?.[0]
    if (chosen === undefined) return
    try {
      const text = await textOf(chosen)
      // Another one was chosen meanwhile.
      if (own !== turn) return
      columns.replaceChildren(shown(chosen.name, text))
      tell(told, `Say what each column of ${chosen.name} is.`)
    } catch (error) {
      if (own === turn) tell(told, messageOf(error), true)
    }
  }

  /** @param {string} name @param {string} text */
  function shown(name, text) {
    const delimiter = delimiterOf(text)
    const scan = quoteScan(delimiter)
    scan.take(new TextEncoder().encode(text))
    const unended = scan.unended()
    if (unended !== undefined)
      throw new Error(`Line ${unended} of ${name} has a quote that nothing ends: all behind it would be one cell.`)
    const [heads, first] = firstLines(text, delimiter, 2)
    if (heads === undefined || first === undefined)
      throw new Error(`${name} has no line below the one that names the columns.`)
    const choices = heads.map((head, index) => {
      const { input } = choice('', `column-${index}`, offered, earlier.get(head) ?? guessed(head, offered))
      input.setAttribute('aria-label', `What "${head}" is`)
      return input
    })
    read = { text, delimiter, heads, chosen: choices }
    const rows = heads.map((head, index) => [head, shortened(first[index] ?? ''), choices[index] ?? ''])
    return table('Its columns', ['Column', 'First value', 'Is'], rows)
  }
}

/** @param {File} chosen */
async function textOf(chosen) {
  if (chosen.size > LARGEST_BYTES)
    throw new Error(`${chosen.name} is too large for this page: "npm start -- import FILE" takes it, however large.`)
  const text = await chosen.text()
  if (text.includes('\uFFFD')) throw new Error(`${chosen.name} is not UTF-8: save it once more as "CSV UTF-8".`)
  return text
}

/** @param {readonly string[]} lines as the server tells of them */
function refusedLines(lines) {
  const caption =
    lines.length > MAX_SHOWN
      ? `The first ${MAX_SHOWN} of ${lines.length.toLocaleString()} refused lines`
      : 'Refused lines'
  return [
    make('p', { class: 'wrong' }, 'Of a refused line nothing is kept: mend it in the file, and import the file again.'),
    table(
      caption,
      ['Why'],
      lines.slice(0, MAX_SHOWN).map((line) => [inWords(line)]),
    ),
  ]
}

/** Without the name that the reference has for the kind of error. @param {string} line */
function inWords(line) {
  return line.replace(/^(Line \d+: )\w+Exception: /, '$1')
}
