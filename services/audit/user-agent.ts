/** What a client says that it is, as rows of log-ins show it: in the words of the reference, whose parser is that of browserscope. */

export interface ClientProgram {
  /** With its version: `Firefox 128.0`. */
  readonly browser: string
  readonly os: string
  readonly device: string
}

/** Of one who says nothing, and of what is not in the tables. */
const UNSAID: ClientProgram = { browser: 'Unknown', os: 'Unknown', device: 'Unknown' }
const OTHER = 'Other'
/** Anybody may send any text: more of it is not looked at. */
const MAX_LENGTH = 512

type Table = readonly (readonly [pattern: RegExp, family: string])[]

/** The first that matches: each names those below it too. The version is what the group holds. */
const BROWSERS: Table = [
  [/\bEdg(?:e|A|iOS)?\/([\d.]+)/, 'Edge'],
  [/\bOPR\/([\d.]+)/, 'Opera'],
  [/\bSamsungBrowser\/([\d.]+)/, 'Samsung Internet'],
  [/\bCriOS\/([\d.]+)/, 'Chrome Mobile iOS'],
  [/\bFxiOS\/([\d.]+)/, 'Firefox iOS'],
  [/\bMobile\b.*\bFirefox\/([\d.]+)/, 'Firefox Mobile'],
  [/\bFirefox\/([\d.]+)/, 'Firefox'],
  [/\bHeadlessChrome\/([\d.]+)/, 'HeadlessChrome'],
  [/\bChrome\/([\d.]+) Mobile\b/, 'Chrome Mobile'],
  [/\bChrome\/([\d.]+)/, 'Chrome'],
  [/\bVersion\/([\d.]+) Mobile\b.*\bSafari\//, 'Mobile Safari'],
  [/\bVersion\/([\d.]+).*\bSafari\//, 'Safari'],
  [/\bcurl\/([\d.]+)/, 'curl'],
  [/\bpython-requests\/([\d.]+)/, 'Python Requests'],
  [/\bokhttp\/([\d.]+)/, 'okhttp'],
  [/\bApache-HttpClient\/([\d.]+)/, 'Apache-HttpClient'],
  [/\bPostmanRuntime\/([\d.]+)/, 'PostmanRuntime'],
]

const SYSTEMS: Table = [
  [/\bWindows NT (10)\.0/, 'Windows'],
  [/\bWindows NT (?:6\.)?([\d.]+)/, 'Windows NT'],
  [/\bAndroid ([\d.]+)/, 'Android'],
  [/\b(?:iPhone|CPU) OS ([\d_]+)/, 'iOS'],
  [/\bMac OS X ([\d_.]+)/, 'Mac OS X'],
  [/\bCrOS \S+ ([\d.]+)/, 'Chrome OS'],
  [/\bUbuntu()\b/, 'Ubuntu'],
  [/\bLinux()\b/, 'Linux'],
]

const DEVICES: Table = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bMacintosh\b/, 'Mac'],
]
const ANDROID_MODEL = /\bAndroid [\d.]+; ([^;)]{1,64}?)(?: Build\/[^;)]*)?[;)]/

export function programOf(userAgent: string): ClientProgram {
  const text = userAgent.slice(0, MAX_LENGTH)
  if (text.trim() === '') return UNSAID
  const device = ANDROID_MODEL.exec(text)?.[1] ?? DEVICES.find(([pattern]) => pattern.test(text))?.[1] ?? OTHER
  return { browser: found(BROWSERS, text, 3), os: found(SYSTEMS, text, 4), device }
}

/** The family with so many parts of its version. */
function found(table: Table, text: string, parts: number): string {
  for (const [pattern, family] of table) {
    const version = pattern.exec(text)?.[1]
    if (version === undefined) continue
    return `${family} ${version.split(/[._]/).slice(0, parts).join('.')}`.trim()
  }
  return OTHER
}
