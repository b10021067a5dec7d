// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.concurrent.*;
import java.util.zip.*;

/** A queue of blocks, three threads that compress them, and one that adds up what comes out. */
public class Deflate {
	public static void main(String[] arguments) throws Exception {
		BlockingQueue<byte[]> in = new ArrayBlockingQueue<>(8);
		BlockingQueue<Integer> out = new ArrayBlockingQueue<>(8);
		for (int t = 0; t < 3; t++) {
			Thread thread = new Thread(() -> {
				Deflater deflater = new Deflater(1);
				byte[] result = new byte[100000];
				try {
					while (true) {
						deflater.reset();
						deflater.setInput(in.take());
						deflater.finish();
						int n = 0;
						while (!deflater.finished())
							n += deflater.deflate(result);
						out.put(n);
					}
				} catch (InterruptedException e) {
				}
			});
			thread.setDaemon(true);
			thread.start();
		}
		Thread feeder = new Thread(() -> {
			int x = 1;
			try {
				while (true) {
					byte[] block = new byte[30000];
					for (int i = 0; i < block.length; i++) {
						x = x * 1103515245 + 12345;
						block[i] = (byte) (x >>> 28);
					}
					in.put(block);
				}
			} catch (InterruptedException e) {
			}
		});
		feeder.setDaemon(true);
		feeder.start();
		long sum = 0;
		while (true)
			sum += out.take();
	}
}
