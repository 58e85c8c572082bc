/** The rule chains of the tenant: found, made, made the root, deleted, from and to files. */
import { confirmed } from '../dialog.js'
import { field, form, make, messageOf, table, tell, timeText } from '../dom.js'
import { pagedList } from '../paged.js'
import { call } from '../session.js'
import { catalogueOf, readComponents } from './catalogue.js'
import { downloadChain } from './download.js'
import { importBody, typesIn } from './file.js'

const TYPING_MS = 300
const ORDERS = /** @type {const} */ ({
  Name: { sortProperty: 'name', sortOrder: 'ASC' },
  'Name, last first': { sortProperty: 'name', sortOrder: 'DESC' },
  'Newest first': { sortProperty: 'createdTime', sortOrder: 'DESC' },
  'Oldest first': { sortProperty: 'createdTime', sortOrder: 'ASC' },
})

/** @typedef {{ id: { id: string }, name: string, root: boolean, createdTime: number, additionalInfo: { description?: string } | null }} RuleChain */

/** @param {HTMLElement} main @param {URLSearchParams} query */
export async function ruleChainsPage(main, query) {
  const search = field('Search', { type: 'search', name: 'search', autocomplete: 'off' })
  search.input.value = query.get('search') ?? ''
  const order = make('select', { name: 'sort' }, ...Object.keys(ORDERS).map((text) => make('option', {}, text)))
  const wanted = query.get('sort') ?? ''
  if (Object.hasOwn(ORDERS, wanted)) order.value = wanted
  const searched = (/** @type {string} */ name) => {
    const text = search.input.value.trim()
    return text === '' ? {} : { [name]: text }
  }
  const list = pagedList({
    caption: 'Rule chains',
    heads: ['Name', 'What for', 'Made', 'Do'],
    cells,
    path: '/api/ruleChains',
    asked: () => ({ ...sorting(order.value), ...searched('textSearch') }),
    kept: () => ({ ...searched('search'), ...(order.value === 'Name' ? {} : { sort: order.value }) }),
    query,
  })
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing
  search.input.addEventListener('input', () => {
    clearTimeout(typing)
    typing = setTimeout(() => void list.turnTo(1), TYPING_MS)
  })
  order.addEventListener('change', () => void list.turnTo(1))
  main.replaceChildren(
    make('h1', {}, 'Rule chains'),
    make('p', { class: 'choice' }, search.row, make('label', {}, 'Sort by', order)),
    list.element,
    addition(),
    importing(() => list.show()),
  )
  await list.show()

  /** @param {RuleChain} chain */
  function cells({ id, name, root, createdTime, additionalInfo }) {
    const link = make('a', { href: `/ruleChains/${id.id}` }, name)
    const mark = make('strong', { class: 'mark', title: 'Messages begin here that no profile sends elsewhere' }, 'root')
    const acts = make(
      'span',
      { class: 'acts' },
      act('Export', name, () => downloadChain(id.id)),
      ...(root
        ? []
        : [act('Make root', name, () => makeRoot(id.id, name)), act('Delete', name, () => remove(id.id, name))]),
    )
    return [
      root ? make('span', {}, link, ' ', mark) : link,
      additionalInfo?.description ?? '',
      timeText(createdTime),
      acts,
    ]
  }

  /** @param {string} text @param {string} of @param {() => Promise<unknown>} act */
  function act(text, of, act) {
    const click = () => void act().catch((error) => tell(list.told, messageOf(error), true))
    return make('button', { type: 'button', 'aria-label': `${text}: ${of}`, click }, text)
  }

  /** @param {string} id @param {string} name */
  async function makeRoot(id, name) {
    const text = `Messages of all devices begin in "${name}" then, but for those whose profile names another rule chain.`
    const act = () => call('POST', `/api/ruleChain/${id}/root`)
    if (await confirmed(`Make "${name}" the root?`, text, 'Make it the root', act)) await changed()
  }

  /** @param {string} id @param {string} name */
  async function remove(id, name) {
    const text = `Its nodes, versions and events go with it, and messages that other rule chains hand to it fail. This can not be undone: export it first to keep it.`
    const act = () => call('DELETE', `/api/ruleChain/${id}`)
    if (await confirmed(`Delete "${name}"?`, text, 'Delete it', act)) await changed()
  }

  async function changed() {
    await list.show()
    // The button is gone with its row: the focus stays on the page.
    search.input.focus()
  }
}

/** @param {string} text */
function sorting(text) {
  return Object.entries(ORDERS).find(([name]) => name === text)?.[1] ?? ORDERS.Name
}

function addition() {
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  const begin = make('input', { type: 'checkbox', name: 'default' })
  const adding = form(
    'Add the rule chain',
    [name.row, make('label', { class: 'tick' }, begin, 'Begin with the nodes of a new tenant’s root rule chain')],
    async () => {
      const path = begin.checked ? '/api/ruleChain/device/default' : '/api/ruleChain'
      const made = await call('POST', path, { name: name.input.value.trim() })
      location.assign(`/ruleChains/${made.id.id}`)
    },
  )
  return make('details', {}, make('summary', {}, 'Add a rule chain'), adding)
}

/** @param {() => Promise<void>} onChange */
function importing(onChange) {
  const file = field('File', { type: 'file', name: 'file', accept: '.json,application/json', required: true })
  const overwrite = make('input', { type: 'checkbox', name: 'overwrite' })
  const result = make('div', { role: 'status' })
  const sending = form(
    'Import the file',
    [file.row, make('label', { class: 'tick' }, overwrite, 'Replace rule chains of the same name')],
    async () => {
      result.replaceChildren()
      const chosen = file.input.files?.[0]
      if (chosen === undefined) throw new Error('Choose a file first.')
      const body = importBody(await chosen.text(), chosen.name)
      /** @type {{ ruleChainId?: { id: string }, ruleChainName: string, updated?: boolean, error?: string, toFillIn?: string[] }[]} */
      const results = await call('POST', `/api/ruleChains/import?overwrite=${overwrite.checked}`, body)
      const unknown = await unknownTypes(typesIn(body))
      result.replaceChildren(
        table(
          'Imported',
          ['Name', 'What became of it'],
          results.map(({ ruleChainId, ruleChainName, updated, error, toFillIn }) => [
            ruleChainId === undefined
              ? ruleChainName
              : make('a', { href: `/ruleChains/${ruleChainId.id}` }, ruleChainName),
            outcome(error, updated === true, toFillIn ?? []),
          ]),
        ),
        ...unknown.map((type) =>
          make(
            'p',
            { class: 'wrong' },
            `This server has no node ${type}: nodes of this type are kept, and do not run.`,
          ),
        ),
      )
      await onChange()
      if (results.some(({ error }) => error !== undefined)) throw new Error('Nothing was imported: see below.')
      return 'Imported.'
    },
  )
  return make('details', {}, make('summary', {}, 'Import a file'), sending, result)
}

/** @param {string | undefined} error @param {boolean} isUpdate @param {readonly string[]} toFillIn */
function outcome(error, isUpdate, toFillIn) {
  if (error !== undefined) return make('span', { class: 'wrong' }, error)
  const done = isUpdate ? 'replaced' : 'made'
  return toFillIn.length === 0
    ? done
    : `${done}; fill in the secrets that the file does not hold: ${toFillIn.join(', ')}`
}

/** @param {readonly string[]} types */
async function unknownTypes(types) {
  const catalogue = catalogueOf(await readComponents())
  return types.filter((type) => !catalogue.has(type))
}
