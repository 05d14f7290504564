/**
 * A Java machine as a host. It faults on purpose: compiled code reads null references without
 * looking, and a fault becomes a NullPointerException; threads that are to stop for the collector
 * fault on a page. Both are to go on, before, while and after kernels fault.
 *
 * <p>java -XX:TieredStopAtLevel=1 -Djava.library.path=FOLDER Host
 *
 * <p>The first compiler only, since the second looks for null where that was found often.
 */
public class Host {
    static native int right();

    static native int fault();

    static class Node {
        int value = 1;
        Node next;
    }

    static volatile boolean stop;
    static volatile long caught;
    static volatile Object sink;

    /** Compiled to a load that faults for the last node of a list. */
    static int second(Node node) {
        return node.next.value;
    }

    static void faultOnPurpose() {
        Node pair = new Node();
        pair.next = new Node();
        Node last = new Node();
        for (int i = 0; i < 200_000; i++) {
            if (second(pair) != 1) {
                throw new AssertionError();
            }
        }
        while (!stop) {
            try {
                second(last);
                throw new AssertionError("null was read");
            } catch (NullPointerException expected) {
                caught++;
            }
        }
    }

    /** Until Java has caught a hundred more; what does not end has a time limit outside. */
    static void waitForFaults() throws InterruptedException {
        for (long before = caught; caught < before + 100; ) {
            Thread.sleep(1);
        }
    }

    static void check(int line) {
        if (line != 0) {
            throw new AssertionError("host.c:" + line);
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.loadLibrary("host");
        Thread faults = new Thread(Host::faultOnPurpose);
        faults.start();
        Thread garbage = new Thread(() -> {
            while (!stop) {
                sink = new byte[1 << 16];
                System.gc();
                Thread.yield();
            }
        });
        garbage.start();
        waitForFaults();
        for (int i = 0; i < 50; i++) {
            check(right());
            check(fault());
        }
        waitForFaults();
        stop = true;
        faults.join();
        garbage.join();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> check(right())));
        System.out.println("the Java machine is the host that it was; it caught " + caught + " faults of its own");
    }
}
