/** Devices of CoAP that prove a certificate: libcoap's client, through the DTLS proxy that ships. */
import { execFile, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { CertificateFiles } from '../../support/certificates.ts'
import { startDtlsProxy, type DtlsProxy } from '../../support/dtls-proxy.ts'
import { makeWithCertificate } from './credentials.ts'
import type { Connected, Kind, World } from './kinds.ts'

const run = promisify(execFile)

const CLIENT = 'coap-client-openssl'
/** Without which these kinds can not be. */
export const DTLS_TOOLS: readonly string[] = ['java', 'javac', 'mvn', CLIENT, 'stdbuf']
const OBSERVING_S = 300
const ANSWER_S = 10

/** The proxy with a certificate of its own. `socket`: where the server looks for it. */
export async function startCoapProxy({ authority }: Pick<World, 'authority'>, socket: string): Promise<DtlsProxy> {
  return startDtlsProxy('coap', socket, ['--credentials', await inOne(await authority.issue(['127.0.0.1']))])
}

/** The path of a file with both. */
async function inOne({ certFile, keyFile }: CertificateFiles): Promise<string> {
  const path = `${certFile}.both.pem`
  await writeFile(path, (await Promise.all([keyFile, certFile].map((file) => readFile(file, 'utf8')))).join(''))
  return path
}

function observing(observed: 'attributes' | 'rpc'): Kind {
  return {
    name: `certificate over CoAP and DTLS, observing ${observed}`,
    make(world, device) {
      const { authority, dtlsPort = 0 } = world
      return makeWithCertificate(world, device, async (files) => {
        // Its server's certificate has no name of a host: what is shown to the server is the matter here.
        const shown = ['-v', '6', '-n', '-c', await inOne(files), '-C', authority.caFile]
        const uri = `coaps://127.0.0.1:${dtlsPort}/api/v1`
        const send = async (value: number): Promise<boolean> => {
          const post = ['-m', 'post', '-B', String(ANSWER_S), '-t', '50', '-e', JSON.stringify({ n: value })]
          const { stdout } = await run(CLIENT, [...shown, ...post, `${uri}/telemetry`])
          return / c:2\.01 /.test(stdout)
        }
        return { ...(await observation([...shown, '-m', 'get', `${uri}/${observed}`])), send }
      })
    },
  }
}

/** Rejects where it was refused. */
async function observation(parameters: readonly string[]): Promise<Omit<Connected, 'send'>> {
  // Into a pipe the client would write what it heard when it ends.
  const child = spawn('stdbuf', ['-oL', CLIENT, '-s', String(OBSERVING_S), '-B', String(ANSWER_S), ...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const begun = Promise.withResolvers<void>()
  let [heard, complaints] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    heard += text
    if (/ c:2\.\d\d .*Observe:\d/.test(heard)) begun.resolve()
  })
  const ended = new Promise<void>((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints += text
      if (!/^4\.\d\d/m.test(complaints)) return
      begun.reject(new Error(`observing was answered ${complaints}`))
      resolve()
    })
  })
  void exited.then(() => begun.reject(new Error(`the client ended before it observed: ${heard}${complaints}`)))
  const close = async (): Promise<void> => {
    child.kill()
    await exited
  }
  try {
    await begun.promise
  } catch (error) {
    await close()
    throw error
  }
  return { ended, close }
}

export const DTLS_KINDS: readonly Kind[] = [observing('attributes'), observing('rpc')]
