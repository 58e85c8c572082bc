/** The official Python clients of the platform whose API this server speaks, and a fuzzer of API descriptions: installed once. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installOnce, runInstaller } from './servers/install.ts'

const PACKAGES = ['tb-rest-client==4.4', 'paho-mqtt==2.2.0', 'schemathesis==4.32.5'] as const
/** It brings an MQTT library of its own under the name of the other, and would install the second one itself while it runs. */
const MQTT_PACKAGES = ['tb-mqtt-client==1.13.14', 'mmh3==5.3.1'] as const

/** Generated from the platform's OpenAPI description: its models refuse an answer whose members are of another type. */
const GENERATED_PACKAGES = ['tb-ce-client==4.4.0'] as const

const SPARKPLUG_PACKAGES = ['pysparkplug==0.6.1', 'paho-mqtt==1.6.1', 'protobuf==7.36.2'] as const

const COAP_PACKAGES = ['aiocoap==0.4.17'] as const

const GATEWAY_PACKAGES = ['thingsboard-gateway==3.8.5', 'tb-mqtt-client==1.13.13', 'mmh3==5.3.1'] as const

const MOTO_PACKAGES = ['moto[server]==5.2.5'] as const

/**
 * The path of a Python that has them; its own programs name the folder in which they were installed, so run modules (`-m schemathesis`).
 * Throws when they can not be had.
 */
export function pythonClients(): Promise<string> {
  return pythonWith('python-clients', PACKAGES)
}

/** The same with the official MQTT client. */
export function pythonMqttClient(): Promise<string> {
  return pythonWith('python-mqtt-client', MQTT_PACKAGES)
}

/** The same with the client generated from the platform's OpenAPI description (Apache-2.0). */
export function pythonGeneratedClient(): Promise<string> {
  return pythonWith('python-generated-client', GENERATED_PACKAGES)
}

/** The same with a client of Sparkplug B (Apache-2.0). */
export function pythonSparkplugClient(): Promise<string> {
  return pythonWith('python-sparkplug-client', SPARKPLUG_PACKAGES)
}

/** The same with a client of CoAP (MIT). */
export function pythonCoapClient(): Promise<string> {
  return pythonWith('python-coap-client', COAP_PACKAGES)
}

/** The same with the official IoT gateway (Apache-2.0): its module is `thingsboard_gateway.tb_gateway`. */
export function pythonGateway(): Promise<string> {
  return pythonWith('python-gateway', GATEWAY_PACKAGES)
}

/** The same with `moto.server`, which answers as Amazon's services do (Apache-2.0). */
export function pythonMoto(): Promise<string> {
  return pythonWith('python-moto', MOTO_PACKAGES)
}

async function pythonWith(label: string, packages: readonly string[]): Promise<string> {
  const name = `${label}-${packages.map((item) => item.split('==')[1]).join('-')}`
  const folder = await installOnce(name, async (target) => {
    await writeFile(join(target, 'requirements.txt'), `${packages.join('\n')}\n`)
    await runInstaller('python3', ['-m', 'venv', '--copies', 'environment'], { folder: target })
    const python = join('environment', 'bin', 'python3')
    await runInstaller(python, ['-m', 'pip', 'install', '--quiet', '-r', 'requirements.txt'], { folder: target })
  })
  return join(folder, 'environment', 'bin', 'python3')
}
