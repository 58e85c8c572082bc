// Ends DTLS for CoAP and LwM2M, by Eclipse Scandium: what clients send goes to a Unix socket of the server with what the handshake proved of
// them, what the server answers goes back. One process for one port: `java -cp 'lib/*:.' DtlsProxy coap|lwm2m HOST:PORT SOCKET [--credentials PEM] [--trust PEM]`.
// The frames on the socket are those of `transports/coap-messages/proxy/frames.ts`.
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.security.cert.CertPath;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import javax.security.auth.x500.X500Principal;
import org.eclipse.californium.elements.DtlsEndpointContext;
import org.eclipse.californium.elements.EndpointContext;
import org.eclipse.californium.elements.PrincipalEndpointContextMatcher;
import org.eclipse.californium.elements.RawData;
import org.eclipse.californium.elements.auth.AdditionalInfo;
import org.eclipse.californium.elements.auth.PreSharedKeyIdentity;
import org.eclipse.californium.elements.auth.RawPublicKeyIdentity;
import org.eclipse.californium.elements.auth.X509CertPath;
import org.eclipse.californium.elements.config.CertificateAuthenticationMode;
import org.eclipse.californium.elements.config.Configuration;
import org.eclipse.californium.elements.util.CertPathUtil;
import org.eclipse.californium.elements.util.SslContextUtil;
import org.eclipse.californium.scandium.DTLSConnector;
import org.eclipse.californium.scandium.config.DtlsConfig;
import org.eclipse.californium.scandium.config.DtlsConnectorConfig;
import org.eclipse.californium.scandium.dtls.AlertMessage;
import org.eclipse.californium.scandium.dtls.CertificateMessage;
import org.eclipse.californium.scandium.dtls.CertificateType;
import org.eclipse.californium.scandium.dtls.CertificateVerificationResult;
import org.eclipse.californium.scandium.dtls.ConnectionId;
import org.eclipse.californium.scandium.dtls.HandshakeException;
import org.eclipse.californium.scandium.dtls.HandshakeResultHandler;
import org.eclipse.californium.scandium.dtls.PskPublicInformation;
import org.eclipse.californium.scandium.dtls.PskSecretResult;
import org.eclipse.californium.scandium.dtls.cipher.CipherSuite;
import org.eclipse.californium.scandium.dtls.pskstore.AdvancedPskStore;
import org.eclipse.californium.scandium.dtls.x509.NewAdvancedCertificateVerifier;
import org.eclipse.californium.scandium.dtls.x509.SingleCertificateProvider;
import org.eclipse.californium.scandium.util.ServerNames;

public class DtlsProxy {
  private static final int OPEN = 1, DATAGRAM = 2, CLOSE = 3, KEY = 4;
  private static final int MAX_FRAME_BYTES = 65_536;
  private static final int MAX_CHANNELS = 200_000;
  private static final int MAX_KEY_REQUESTS = 1_000;
  private static final long KEY_TIMEOUT_MS = 10_000;
  private static final long RECONNECT_MS = 500;
  private static final String KEY_ID = "keyId";

  private record Asked(ConnectionId cid, PskPublicInformation identity, long at) {}

  /** One client as the server knows it: who it proved to be, and from where. */
  private record Who(Principal principal, String keyId, InetSocketAddress address) {}

  private static final class Channel {
    final int number;
    volatile EndpointContext context;
    /** Unix ms. Guarded by the proxy. */
    long handshake;

    Channel(int number, EndpointContext context) {
      this.number = number;
      this.context = context;
    }
  }

  private final UnixDomainSocketAddress server;
  private volatile SocketChannel link;
  private DTLSConnector connector;
  private int lastChannel;
  /** The least used first. Guarded by this. */
  private final LinkedHashMap<Who, Channel> channels = new LinkedHashMap<>(16, 0.75f, true);
  private final Map<Integer, Channel> byNumber = new ConcurrentHashMap<>();
  private final Map<Integer, Asked> asked = new ConcurrentHashMap<>();
  private final AtomicInteger requests = new AtomicInteger();
  private volatile HandshakeResultHandler keyFound;

  private DtlsProxy(String path) {
    server = UnixDomainSocketAddress.of(path);
  }

  public static void main(String[] parameters) throws Exception {
    if (parameters.length < 3 || !List.of("coap", "lwm2m").contains(parameters[0])) {
      System.err.println("usage: DtlsProxy coap|lwm2m HOST:PORT SOCKET [--credentials PEM] [--trust PEM]");
      System.exit(2);
    }
    boolean isLwm2m = parameters[0].equals("lwm2m");
    int colon = parameters[1].lastIndexOf(':');
    String host = parameters[1].substring(0, colon).replaceAll("[\\[\\]]", "");
    InetSocketAddress address = new InetSocketAddress(host, Integer.parseInt(parameters[1].substring(colon + 1)));
    String credentials = null, trust = null;
    for (int at = 3; at + 1 < parameters.length; at += 2) {
      if (parameters[at].equals("--credentials")) credentials = parameters[at + 1];
      else if (parameters[at].equals("--trust")) trust = parameters[at + 1];
      else throw new IllegalArgumentException("unknown: " + parameters[at]);
    }
    new DtlsProxy(parameters[2]).run(isLwm2m, address, credentials, trust);
  }

  private void run(boolean isLwm2m, InetSocketAddress address, String credentials, String trust) throws Exception {
    DtlsConfig.register();
    Configuration settings = new Configuration();
    settings.set(DtlsConfig.DTLS_ROLE, DtlsConfig.DtlsRole.SERVER_ONLY);
    settings.set(DtlsConfig.DTLS_CONNECTION_ID_LENGTH, 8);
    settings.set(DtlsConfig.DTLS_MAX_CONNECTIONS, MAX_CHANNELS);
    settings.set(DtlsConfig.DTLS_RETRANSMISSION_TIMEOUT, 9_000, TimeUnit.MILLISECONDS);
    settings.set(DtlsConfig.DTLS_RECOMMENDED_CIPHER_SUITES_ONLY, false);
    // A session that is resumed would prove a key that was changed meanwhile.
    settings.set(DtlsConfig.DTLS_SERVER_USE_SESSION_ID, false);
    List<CipherSuite> suites = new ArrayList<>();
    if (credentials != null)
      suites.addAll(List.of(
        CipherSuite.TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, CipherSuite.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256));
    if (isLwm2m)
      suites.addAll(List.of(CipherSuite.TLS_PSK_WITH_AES_128_CCM_8, CipherSuite.TLS_PSK_WITH_AES_128_CBC_SHA256));
    settings.set(DtlsConfig.DTLS_CIPHER_SUITES, suites);
    settings.set(
      DtlsConfig.DTLS_CLIENT_AUTHENTICATION_MODE,
      isLwm2m ? CertificateAuthenticationMode.NEEDED : CertificateAuthenticationMode.WANTED);
    DtlsConnectorConfig.Builder builder = DtlsConnectorConfig.builder(settings).setAddress(address);
    if (isLwm2m) builder.setAdvancedPskStore(new Keys());
    if (credentials != null) {
      SslContextUtil.Credentials own = SslContextUtil.loadCredentials(credentials);
      builder.setCertificateIdentityProvider(new SingleCertificateProvider(
        own.getPrivateKey(), own.getCertificateChain(), CertificateType.X_509, CertificateType.RAW_PUBLIC_KEY));
      builder.setAdvancedCertificateVerifier(new Possession(isLwm2m));
    }
    X509Certificate[] trusted = trust == null
      ? new X509Certificate[0]
      : Arrays.copyOf(
        SslContextUtil.loadTrustedCertificates(trust), SslContextUtil.loadTrustedCertificates(trust).length, X509Certificate[].class);
    this.trusted = trusted;
    // What goes with a principal tells under which key it was proven.
    builder.setApplicationLevelInfoSupplier((principal, argument) ->
      argument instanceof String keyId ? AdditionalInfo.from(Map.of(KEY_ID, keyId)) : AdditionalInfo.empty());
    connector = new DTLSConnector(builder.build());
    connector.setEndpointContextMatcher(new PrincipalEndpointContextMatcher(true));
    connector.setRawDataReceiver(this::received);
    Runtime.getRuntime().addShutdownHook(new Thread(connector::destroy));
    connector.start();
    System.out.println("LISTENING " + connector.getAddress().getPort());
    for (;;) {
      try {
        serve();
      } catch (java.io.IOException error) {
        // The server is away: it is looked for again.
      } catch (RuntimeException error) {
        System.err.println("what the server says means nothing: " + error);
      }
      forgetLink();
      Thread.sleep(RECONNECT_MS);
    }
  }

  private X509Certificate[] trusted = new X509Certificate[0];

  private void serve() throws java.io.IOException {
    try (SocketChannel opened = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      opened.connect(server);
      synchronized (this) {
        link = opened;
      }
      System.out.println("CONNECTED");
      ByteBuffer head = ByteBuffer.allocate(4);
      for (;;) {
        fill(opened, head.clear());
        int length = head.getInt(0);
        if (length < 1 || length > MAX_FRAME_BYTES) throw new java.io.IOException("a frame of " + length + " bytes");
        ByteBuffer body = ByteBuffer.allocate(length);
        fill(opened, body);
        take(body.flip());
      }
    }
  }

  private static void fill(SocketChannel from, ByteBuffer into) throws java.io.IOException {
    while (into.hasRemaining()) if (from.read(into) < 0) throw new java.io.IOException("the server is gone");
  }

  /** The server forgets its channels with the link: each is opened anew. */
  private synchronized void forgetLink() {
    link = null;
    channels.clear();
    byNumber.clear();
    asked.clear();
  }

  private void take(ByteBuffer body) {
    int kind = body.get();
    if (kind == DATAGRAM) {
      Channel channel = byNumber.get(body.getInt());
      if (channel == null) return;
      byte[] bytes = new byte[body.remaining()];
      body.get(bytes);
      // Only to who it was proven to be: a session of somebody else at this address never gets it.
      connector.send(RawData.outbound(bytes, channel.context, null, false));
    } else if (kind == KEY) keyAnswered(StandardCharsets.UTF_8.decode(body).toString());
  }

  private void received(RawData data) {
    EndpointContext context = data.getEndpointContext();
    Principal principal = context.getPeerIdentity();
    InetSocketAddress address = context.getPeerAddress();
    long handshake = context.get(DtlsEndpointContext.KEY_HANDSHAKE_TIMESTAMP);
    String keyId = principal instanceof PreSharedKeyIdentity psk ? psk.getExtendedInfo().get(KEY_ID, String.class) : null;
    synchronized (this) {
      if (link == null) return;
      Who who = new Who(principal, keyId, address);
      Channel channel = channels.get(who);
      if (channel == null) {
        channel = new Channel(++lastChannel & 0x7fffffff, context);
        channels.put(who, channel);
        byNumber.put(channel.number, channel);
        if (channels.size() > MAX_CHANNELS) {
          Channel oldest = channels.remove(channels.keySet().iterator().next());
          byNumber.remove(oldest.number);
          write(CLOSE, text("{\"channel\":" + oldest.number + "}"));
        }
      }
      if (handshake > channel.handshake) {
        channel.handshake = handshake;
        write(OPEN, text("{\"channel\":" + channel.number + ",\"address\":" + quoted(address.getAddress().getHostAddress())
          + ",\"port\":" + address.getPort() + ",\"proven\":" + proven(principal, keyId)
          + ",\"handshake\":\"" + handshake + "\"}"));
      }
      channel.context = context;
      byte[] bytes = data.getBytes();
      write(DATAGRAM, ByteBuffer.allocate(4 + bytes.length).putInt(channel.number).put(bytes).flip());
    }
  }

  private String proven(Principal principal, String keyId) {
    Base64.Encoder base64 = Base64.getEncoder();
    if (principal instanceof PreSharedKeyIdentity psk)
      return "{\"kind\":\"PSK\",\"identity\":" + quoted(psk.getIdentity()) + ",\"keyId\":" + quoted(keyId) + "}";
    if (principal instanceof RawPublicKeyIdentity raw)
      return "{\"kind\":\"RPK\",\"key\":\"" + base64.encodeToString(raw.getKey().getEncoded()) + "\"}";
    if (principal instanceof X509CertPath path) {
      try {
        String name = isTrusted(path.getPath()) ? path.getCN() : null;
        String certificate = base64.encodeToString(path.getTarget().getEncoded());
        return "{\"kind\":\"X509\",\"certificate\":\"" + certificate + "\""
          + (name == null ? "" : ",\"trustedName\":" + quoted(name)) + "}";
      } catch (java.security.GeneralSecurityException error) {
        return "{\"kind\":\"ANONYMOUS\"}";
      }
    }
    return "{\"kind\":\"ANONYMOUS\"}";
  }

  private boolean isTrusted(CertPath path) {
    if (trusted.length == 0) return false;
    try {
      CertPathUtil.validateCertificatePathWithIssuer(true, path, trusted);
      return true;
    } catch (java.security.GeneralSecurityException error) {
      return false;
    }
  }

  /** Guarded by this. A link that fails ends, and is made anew. */
  private void write(int kind, ByteBuffer rest) {
    SocketChannel to = link;
    if (to == null) return;
    ByteBuffer frame = ByteBuffer.allocate(5 + rest.remaining()).putInt(1 + rest.remaining()).put((byte) kind).put(rest).flip();
    try {
      while (frame.hasRemaining()) to.write(frame);
    } catch (java.io.IOException error) {
      try {
        to.close();
      } catch (java.io.IOException again) {
        // It is closed.
      }
    }
  }

  private static ByteBuffer text(String json) {
    return ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8));
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char each : text.toCharArray()) {
      if (each == '"' || each == '\\' || each < ' ' || each > '~') quoted.append(String.format("\\u%04x", (int) each));
      else quoted.append(each);
    }
    return quoted.append('"').toString();
  }

  private static final Pattern REQUEST = Pattern.compile("\"request\":(\\d+)");
  private static final Pattern KEY_HEX = Pattern.compile("\"key\":\"([0-9a-f]+)\"");
  private static final Pattern KEY_NAME = Pattern.compile("\"keyId\":\"([0-9a-f]+)\"");

  private void keyAnswered(String json) {
    Matcher request = REQUEST.matcher(json);
    Asked waiting = request.find() ? asked.remove(Integer.parseInt(request.group(1))) : null;
    if (waiting == null) return;
    Matcher key = KEY_HEX.matcher(json), name = KEY_NAME.matcher(json);
    boolean isFound = key.find() && name.find();
    SecretKey secret = isFound ? new SecretKeySpec(HexFormat.of().parseHex(key.group(1)), PskSecretResult.ALGORITHM_PSK) : null;
    keyFound.apply(new PskSecretResult(waiting.cid, waiting.identity, secret, isFound ? name.group(1) : null));
  }

  /** Keys are the server's: it is asked with each handshake. */
  private final class Keys implements AdvancedPskStore {
    @Override
    public boolean hasEcdhePskSupported() {
      return false;
    }

    @Override
    public PskSecretResult requestPskSecretResult(
        ConnectionId cid, ServerNames names, PskPublicInformation identity, String algorithm, SecretKey other, byte[] seed, boolean extended) {
      long now = System.currentTimeMillis();
      asked.values().removeIf((waiting) -> now - waiting.at > KEY_TIMEOUT_MS);
      if (link == null || asked.size() >= MAX_KEY_REQUESTS) return new PskSecretResult(cid, identity, null);
      int request = requests.incrementAndGet() & 0x7fffffff;
      asked.put(request, new Asked(cid, identity, now));
      synchronized (DtlsProxy.this) {
        write(KEY, text("{\"request\":" + request + ",\"identity\":" + quoted(identity.getPublicInfoAsString()) + "}"));
      }
      return null;
    }

    @Override
    public PskPublicInformation getIdentity(InetSocketAddress peer, ServerNames names) {
      return null;
    }

    @Override
    public void setResultHandler(HandshakeResultHandler handler) {
      keyFound = handler;
    }
  }

  /** The handshake proves that the client has the key of what it shows; whose that is, the server says. */
  private static final class Possession implements NewAdvancedCertificateVerifier {
    private final boolean isNeeded;

    Possession(boolean isNeeded) {
      this.isNeeded = isNeeded;
    }

    @Override
    public List<CertificateType> getSupportedCertificateTypes() {
      return isNeeded ? List.of(CertificateType.X_509, CertificateType.RAW_PUBLIC_KEY) : List.of(CertificateType.X_509);
    }

    @Override
    public CertificateVerificationResult verifyCertificate(
        ConnectionId cid, ServerNames names, InetSocketAddress peer, boolean clientUsage, boolean verifySubject, boolean truncate,
        CertificateMessage message) {
      CertPath chain = message.getCertificateChain();
      if (chain == null) return new CertificateVerificationResult(cid, message.getPublicKey(), null);
      try {
        if (!chain.getCertificates().isEmpty()) ((X509Certificate) chain.getCertificates().get(0)).checkValidity();
        return new CertificateVerificationResult(cid, chain, null);
      } catch (java.security.cert.CertificateException error) {
        AlertMessage alert =
          new AlertMessage(AlertMessage.AlertLevel.FATAL, AlertMessage.AlertDescription.CERTIFICATE_EXPIRED);
        return new CertificateVerificationResult(cid, new HandshakeException("out of its dates", alert), null);
      }
    }

    @Override
    public List<X500Principal> getAcceptedIssuers() {
      return List.of();
    }

    @Override
    public void setResultHandler(HandshakeResultHandler handler) {}
  }
}
