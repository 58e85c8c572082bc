/** One queue: how it hands messages out, what becomes of failures, and what that costs. */
import { dangerous } from './dialog.js'
import { choice, field, form, hide, make } from './dom.js'
import { PROCESSES, SUBMITS, costOf, isOfSystem, isTriedAgain } from './queue-shapes.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const ORDERS = /** @type {const} */ ([
  ['', 'as the process was told (QUEUE_STRICT_ORDER)'],
  ['yes', 'yes: the next one waits'],
  ['no', 'no: later ones go on'],
])

/** @param {import('./pages.js').Place} place */
export async function queuePage({ main, id, user }) {
  const path = `/api/queues/${encodeURIComponent(id)}`
  /** @type {Json} */
  let present = await call('GET', path)
  const isOwn = user.authority === 'SYS_ADMIN' || !isOfSystem(present)
  const settings = settingsForm(present, async (change) => {
    present = await call('POST', '/api/queues?serviceType=TB_RULE_ENGINE', { ...present, ...change })
  })
  const remove = dangerous('Delete the queue', `Delete "${present['name']}" for ever`, remover, {
    text: 'It is refused while a device profile or a rule node uses it. What is in it goes on in Main.',
  })
  if (!isOwn) for (const each of settings.elements) each.setAttribute('disabled', '')
  main.replaceChildren(
    make('p', {}, make('a', { href: '/queues' }, 'Queues')),
    make('h1', {}, present['name']),
    make(
      'p',
      {},
      isOwn
        ? 'To use it, name it in a device or asset profile, or in a checkpoint node of a rule chain.'
        : 'A queue of the system: all tenants use it, and the system administrator changes it.',
    ),
    settings,
    ...(isOwn && present['name'] !== 'Main' ? [make('h2', {}, 'Delete'), remove] : []),
  )

  async function remover() {
    await call('DELETE', path)
    location.assign('/queues')
  }
}

/** @param {Json} queue @param {(change: Json) => Promise<void>} save */
function settingsForm({ submitStrategy, processingStrategy, packProcessingTimeout, additionalInfo }, save) {
  const submit = choice('Messages are handed out', 'submit', SUBMITS.map(pair), submitStrategy.type)
  const submitCost = make('p', { class: 'hint' })
  const batch = whole('Messages in a batch', 'batchSize', submitStrategy.batchSize)
  const order = choice(
    'Later messages of a device wait while one is tried again',
    'order',
    ORDERS,
    orderOf(additionalInfo),
  )
  const process = choice('Failures', 'process', PROCESSES.map(pair), processingStrategy.type)
  const processCost = make('p', { class: 'hint' })
  const retries = whole('Tries after the first (0: without end)', 'retries', processingStrategy.retries)
  const pause = whole('First pause between tries, seconds', 'pause', processingStrategy.pauseBetweenRetries)
  const most = whole('Longest pause, seconds', 'maxPause', processingStrategy.maxPauseBetweenRetries)
  const share = whole(
    'Give up at once where more of a pack fail, percent (0: never)',
    'failurePercentage',
    processingStrategy.failurePercentage,
  )
  share.input.max = '100'
  share.input.step = 'any'
  const timeout = whole('A message takes too long after, milliseconds', 'timeout', packProcessingTimeout)
  const again = [retries, pause, most, share]
  const explain = () => {
    submitCost.textContent = costOf(SUBMITS, submit.input.value)
    processCost.textContent = costOf(PROCESSES, process.input.value)
    hide(batch.row, submit.input.value !== 'BATCH')
    order.row.hidden = !['BURST', 'BATCH'].includes(submit.input.value)
    for (const { row } of again) hide(row, !isTriedAgain(process.input.value))
  }
  submit.input.addEventListener('change', explain)
  process.input.addEventListener('change', explain)
  explain()
  const afterFailures = again.map(({ row }) => row)
  const rows = [submit.row, submitCost, batch.row, order.row, process.row, processCost, ...afterFailures, timeout.row]
  let saved = { submitStrategy, processingStrategy }
  return form('Save', rows, async () => {
    const { submitStrategy: handed, processingStrategy: tried } = saved
    const strategies = {
      submitStrategy: { type: submit.input.value, batchSize: batch.value(handed.batchSize) },
      processingStrategy: {
        type: process.input.value,
        retries: retries.value(tried.retries),
        failurePercentage: share.value(tried.failurePercentage),
        pauseBetweenRetries: pause.value(tried.pauseBetweenRetries),
        maxPauseBetweenRetries: most.value(tried.maxPauseBetweenRetries),
      },
    }
    await save({
      packProcessingTimeout: Number(timeout.input.value),
      ...strategies,
      additionalInfo: withOrder(additionalInfo, order.input.value),
    })
    saved = strategies
    return 'Saved: it counts at once, in other processes a moment later.'
  })
}

/** @param {string} label @param {string} name @param {number} value */
function whole(label, name, value) {
  const made = field(label, { name, type: 'number', min: '0', step: '1', required: true })
  made.input.value = String(value)
  return {
    ...made,
    /** What is not shown stays as it was. @param {number} before */
    value: (before) => (made.input.disabled ? before : Number(made.input.value)),
  }
}

/** @param {import('./queue-shapes.js').Way} way @returns {readonly [string, string]} */
function pair([type, name]) {
  return [type, name]
}

/** @param {Json | null} info */
function orderOf(info) {
  const strict = info?.['strictOrder']
  return typeof strict === 'boolean' ? (strict ? 'yes' : 'no') : ''
}

/** @param {Json | null} info @param {string} order @returns {Json | null} */
function withOrder(info, order) {
  const { strictOrder: _before, ...others } = info ?? {}
  if (order !== '') return { ...others, strictOrder: order === 'yes' }
  return Object.keys(others).length === 0 ? null : others
}
