/** Who a client of LwM2M is: the endpoint that it names, with what a proxy's handshake has proven of it. */
import type { Lwm2mEndpoint, Lwm2mProof } from '../../engine/device/gateway.ts'
import type { Peer } from '../coap-messages/message.ts'
import type { ProvenIdentity } from '../coap-messages/proxy/frames.ts'

/** Undefined where it came by DTLS and showed nothing: LwM2M has no such client. */
export function endpointCredentials(endpoint: string, { proven }: Peer): Lwm2mEndpoint | undefined {
  if (proven === undefined) return { type: 'LWM2M_ENDPOINT', endpoint }
  const proof = proofOf(proven)
  return proof === undefined ? undefined : { type: 'LWM2M_ENDPOINT', endpoint, proof }
}

function proofOf(proven: ProvenIdentity): Lwm2mProof | undefined {
  switch (proven.kind) {
    case 'PSK':
      return { mode: proven.kind, identity: proven.identity, keyId: proven.keyId }
    case 'RPK':
      return { mode: proven.kind, key: proven.key }
    case 'X509':
      return { mode: proven.kind, certificate: proven.certificate, trustedName: proven.trustedName }
    case 'ANONYMOUS':
      return undefined
  }
}
