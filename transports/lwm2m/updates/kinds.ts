/** Firmware (object 5) and software (object 9): where a client has what, and what its numbers mean. Source: `device-api.md` 13.9. */
import type { PackageRequest } from '../../../engine/device/gateway.ts'
import type { Path } from '../codecs/records.ts'

export interface UpdateKind {
  readonly package: PackageRequest['kind']
  /** Of keys of attributes and telemetry. */
  readonly prefix: 'fw' | 'sw'
  /** Of the address at which this server has packages. */
  readonly place: 'tbfw' | 'tbsw'
  readonly bytes: Path
  readonly address: string
  readonly install: Path
  /** Of software, with an argument: what is installed makes room for another. */
  readonly uninstall?: Path
  readonly state: string
  readonly result: string
  readonly name: string
  readonly version: string
  /** Of the Device object: what runs, as it calls it. */
  readonly running: string
  /** How it takes packages: 0 by an address alone, 1 written to it alone. */
  readonly delivery?: string
  /** Of the container of object 19 that tells about a package before it comes. */
  readonly infoInstance: number
  /** What is told of a state, by its number. */
  readonly states: ReadonlyMap<string, string>
  readonly installable: string
  readonly installed?: string
  readonly results: ReadonlyMap<string, string>
  /** Results from here on are failures. */
  readonly leastFailure: number
  /** Another try may go well. */
  readonly worthARetry: ReadonlySet<string>
  /** State 0 after a download, and result 0 after an installation, say what came of it. */
  readonly isResetTelling: boolean
}

export const FIRMWARE: UpdateKind = {
  ...{ package: 'FIRMWARE', prefix: 'fw', place: 'tbfw', infoInstance: 65_533 },
  ...{ bytes: [5, 0, 0], address: '/5/0/1', install: [5, 0, 2], state: '/5/0/3', result: '/5/0/5' },
  ...{ name: '/5/0/6', version: '/5/0/7', running: '/3/0/3', delivery: '/5/0/9' },
  states: new Map(Object.entries({ 1: 'DOWNLOADING', 2: 'DOWNLOADED', 3: 'UPDATING' })),
  installable: '2',
  results: new Map([['1', 'UPDATED']]),
  leastFailure: 2,
  // The connection was lost, or what came is not whole.
  worthARetry: new Set(['4', '5']),
  isResetTelling: true,
}

export const SOFTWARE: UpdateKind = {
  ...{ package: 'SOFTWARE', prefix: 'sw', place: 'tbsw', infoInstance: 65_534 },
  ...{ bytes: [9, 0, 2], address: '/9/0/3', install: [9, 0, 4], uninstall: [9, 0, 6], state: '/9/0/7' },
  ...{ result: '/9/0/9', name: '/9/0/0', version: '/9/0/1', running: '/3/0/19' },
  states: new Map(Object.entries({ 1: 'DOWNLOADING', 2: 'DOWNLOADING', 3: 'DOWNLOADED' })),
  ...{ installable: '3', installed: '4' },
  results: new Map(Object.entries({ 1: 'DOWNLOADING', 2: 'UPDATED', 3: 'VERIFIED' })),
  leastFailure: 50,
  // Those of the reference, and what firmware is tried again for: a lost connection, a package that is not whole.
  worthARetry: new Set(['50', '51', '52', '53', '56', '57', '58', '59']),
  isResetTelling: false,
}

type Labels = Readonly<Record<number, string>>

const RESULTS_OF_FIRMWARE: Labels = {
  ...{ 0: 'Initial value', 1: 'Firmware updated successfully' },
  ...{ 2: 'Not enough flash memory for the new firmware package', 3: 'Out of RAM during downloading process' },
  ...{ 4: 'Connection lost during downloading process', 5: 'Integrity check failure for new downloaded package' },
  ...{ 6: 'Unsupported package type', 7: 'Invalid URI', 8: 'Firmware update failed', 9: 'Unsupported protocol' },
}
const RESULTS_OF_SOFTWARE: Labels = {
  ...{ 0: 'Initial value', 1: 'Downloading', 2: 'Software successfully installed' },
  ...{ 3: 'Successfully Downloaded and package integrity verified' },
  ...{ 50: 'Not enough storage for the new software package', 51: 'Out of memory during downloading process' },
  ...{ 52: 'Connection lost during downloading process', 53: 'Package integrity check failure.' },
  ...{ 54: 'Unsupported package type', 56: 'Invalid URI', 57: 'Device defined update error' },
  ...{ 58: 'Software installation failure', 59: 'Uninstallation Failure during forUpdate(arg=0)' },
}

/** In which words the reference stores the numbers of these resources; a number that is none of them stays one. */
export const UPDATE_LABELS: ReadonlyMap<string, Labels> = new Map<string, Labels>([
  [FIRMWARE.state, { 0: 'Idle', 1: 'Downloading', 2: 'Downloaded', 3: 'Updating' }],
  [FIRMWARE.result, RESULTS_OF_FIRMWARE],
  [SOFTWARE.state, { 0: 'Initial', 1: 'DownloadStarted', 2: 'Downloaded', 3: 'Delivered', 4: 'Installed' }],
  [SOFTWARE.result, RESULTS_OF_SOFTWARE],
])
