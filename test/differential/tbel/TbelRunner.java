import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.Serializable;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.mvel2.ExecutionContext;
import org.mvel2.MVEL;
import org.mvel2.ParserContext;
import org.mvel2.SandboxedParserConfiguration;
import org.mvel2.optimizers.OptimizerFactory;

/**
 * Runs scripts in the real expression language. One JSON object a line on standard input ({@code script, msg, metadata,
 * msgType}), one line each on standard output: {@code V} and the typed value, or {@code E} and the error's first line.
 * Typed values: {@code I5 L5 D5.0 S"text" B1 N [..,..] {"key":..,..}}.
 */
public final class TbelRunner {
    private static final long MEMORY = 8L * 1024 * 1024;
    private static final long TIME_MS = 2000;

    public static void main(String[] args) throws Exception {
        SandboxedParserConfiguration config = ParserContext.enableSandboxedMode();
        OptimizerFactory.setDefaultOptimizer(OptimizerFactory.SAFE_REFLECTIVE);
        ScheduledExecutorService watchdog = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(answer(line, config, watchdog));
            out.flush();
        }
    }

    private static String answer(String line, SandboxedParserConfiguration config, ScheduledExecutorService watchdog) {
        ExecutionContext context = new ExecutionContext(config, MEMORY);
        ScheduledFuture<?> stop = watchdog.schedule(context::stop, TIME_MS, TimeUnit.MILLISECONDS);
        try {
            Map<?, ?> task = (Map<?, ?>) new Json(line).value();
            Serializable compiled = MVEL.compileExpression((String) task.get("script"), new ParserContext(config));
            Map<String, Object> variables = new HashMap<>();
            variables.put("msg", task.get("msg"));
            variables.put("metadata", task.get("metadata"));
            variables.put("msgType", task.get("msgType"));
            Object value = MVEL.executeTbExpression(compiled, context, variables);
            StringBuilder text = new StringBuilder("V");
            print(value, text);
            return text.toString();
        } catch (Throwable error) {
            return "E" + String.valueOf(error.getMessage()).split("\n")[0];
        } finally {
            stop.cancel(false);
        }
    }

    private static void print(Object value, StringBuilder text) {
        if (value == null) {
            text.append('N');
        } else if (value instanceof Integer) {
            text.append('I').append(value);
        } else if (value instanceof Long) {
            text.append('L').append(value);
        } else if (value instanceof Double) {
            text.append('D').append(value);
        } else if (value instanceof Boolean) {
            text.append('B').append((Boolean) value ? 1 : 0);
        } else if (value instanceof String) {
            text.append('S');
            quote((String) value, text);
        } else if (value instanceof Map) {
            printMap((Map<?, ?>) value, text);
        } else if (value instanceof List) {
            text.append('[');
            String comma = "";
            for (Object item : (List<?>) value) {
                text.append(comma);
                print(item, text);
                comma = ",";
            }
            text.append(']');
        } else {
            text.append('?').append(value.getClass().getName()).append(' ').append(value);
        }
    }

    private static void printMap(Map<?, ?> map, StringBuilder text) {
        text.append('{');
        String comma = "";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            text.append(comma);
            quote(String.valueOf(entry.getKey()), text);
            text.append(':');
            print(entry.getValue(), text);
            comma = ",";
        }
        text.append('}');
    }

    private static void quote(String value, StringBuilder text) {
        text.append('"');
        for (int index = 0; index < value.length(); index++) {
            char letter = value.charAt(index);
            if (letter == '"' || letter == '\\') {
                text.append('\\').append(letter);
            } else if (letter < 32 || letter > 126) {
                text.append(String.format("\\u%04x", (int) letter));
            } else {
                text.append(letter);
            }
        }
        text.append('"');
    }

    /** JSON as the reference's server reads it into maps: int, long or big integer by size, double where there is a dot. */
    private static final class Json {
        private final String text;
        private int at = 0;

        Json(String text) {
            this.text = text;
        }

        Object value() {
            char first = text.charAt(at);
            if (first == '{') {
                return object();
            } else if (first == '[') {
                return array();
            } else if (first == '"') {
                return string();
            }
            int from = at;
            while (at < text.length() && ",]}".indexOf(text.charAt(at)) < 0) {
                at++;
            }
            return scalar(text.substring(from, at));
        }

        private static Object scalar(String word) {
            if (word.equals("null")) {
                return null;
            } else if (word.equals("true") || word.equals("false")) {
                return word.equals("true");
            } else if (word.contains(".") || word.contains("e") || word.contains("E")) {
                return Double.valueOf(word);
            }
            BigInteger whole = new BigInteger(word);
            if (whole.bitLength() < 32) {
                return whole.intValue();
            }
            return whole.bitLength() < 64 ? (Object) whole.longValue() : whole;
        }

        private Map<String, Object> object() {
            Map<String, Object> map = new LinkedHashMap<>();
            at++;
            while (text.charAt(at) != '}') {
                String key = string();
                at++;
                Object member = value();
                if (member != null) {
                    map.put(key, member);
                }
                if (text.charAt(at) == ',') {
                    at++;
                }
            }
            at++;
            return map;
        }

        private List<Object> array() {
            List<Object> list = new ArrayList<>();
            at++;
            while (text.charAt(at) != ']') {
                list.add(value());
                if (text.charAt(at) == ',') {
                    at++;
                }
            }
            at++;
            return list;
        }

        private String string() {
            StringBuilder result = new StringBuilder();
            at++;
            while (text.charAt(at) != '"') {
                char letter = text.charAt(at++);
                if (letter == '\\') {
                    letter = text.charAt(at++);
                    if (letter == 'u') {
                        letter = (char) Integer.parseInt(text.substring(at, at + 4), 16);
                        at += 4;
                    } else {
                        int escape = "nrtbf".indexOf(letter);
                        letter = escape < 0 ? letter : "\n\r\t\b\f".charAt(escape);
                    }
                }
                result.append(letter);
            }
            at++;
            return result.toString();
        }
    }
}
