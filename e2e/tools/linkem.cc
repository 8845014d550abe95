// SPDX-License-Identifier: MPL-2.0

// linkem - a long link between two network namespaces, for machines whose kernel has no netem.
//
// It opens a TUN device in each namespace and carries IP packets between them. Each direction applies, in this order:
//   bottleneck  a queue of a given size in bytes, drained at a fixed rate; packets that do not fit are dropped
//   loss        of MTU-sized packets, independent, after the bottleneck
//   delay       constant, plus a uniform extra that keeps the order of packets; a share of them may overtake
//
// Large TCP (GSO) packets cross unsplit, which makes gigabit rates affordable. Rate, queue and loss still apply to each
// of their segments. A packet that loses a segment, or takes more than a millisecond to send, is split.
//
// Build: c++ -std=c++20 -O2 -pthread -o linkem linkem.cc      Needs: root, iproute2.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr const char* kUsage =
    R"(usage: linkem --a NS --b NS [options]
A long link between two network namespaces. For options marked *, X applies to both directions; X:Y sets X from A to B
and Y from B to A.
  --create              make both namespaces, and delete them at the end
  --dev NAME            device name in both namespaces                      (lem0)
  --addr-a CIDR, --addr-b CIDR                                              (10.99.0.1/24, 10.99.0.2/24)
  --mtu BYTES           (1500)
  --rate MBIT *         rate of the bottleneck; 0: unlimited                (0)
  --queue BYTES *       queue before the bottleneck                         (rate x both delays, at least 100000)
  --loss PERCENT *      share of packets to lose                            (0)
  --delay MS *          one-way delay; the round trip is the sum of both    (0)
  --jitter MS *         uniform extra delay from 0 to MS, in order          (0)
  --reorder PERCENT *   share of packets that may overtake earlier ones     (0)
  --seed N              seed for loss, jitter and reordering                (1)
  --time SECONDS        end after this time                                 (900)
Prints READY when the link is up. SIGUSR1 starts or ends an outage, during which all packets are dropped. On SIGTERM,
SIGINT or the end of its parent it cleans up, prints its counters as one line of JSON, and exits 0.
)";

// Like <linux/virtio_net.h>, which is not valid C++.
struct VirtioHeader {
  uint8_t flags, gso_type;
  uint16_t header_bytes, gso_size, csum_start, csum_offset;
};
constexpr uint8_t kNoGso = 0;

constexpr size_t kHeaderBytes = sizeof(VirtioHeader);
constexpr size_t kMaxPacket = 65536 + 512;
constexpr uint64_t kMaxRunNs = 1'000'000;  // the longest burst that arrives as one packet
constexpr uint64_t kMaxHeld = 1ull << 30;  // bytes of one direction in memory; more are dropped
constexpr int kReadsInTurn = 64;           // per turn, before due packets are written

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "linkem: %s\n", what.c_str());
  std::exit(2);
}

uint64_t NowNs() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

uint32_t Sum16(const uint8_t* at, size_t bytes) {
  uint32_t sum = 0;
  for (; bytes > 1; bytes -= 2, at += 2) sum += uint32_t{at[0]} << 8 | at[1];
  return bytes > 0 ? sum + (uint32_t{at[0]} << 8) : sum;
}

uint16_t Fold(uint32_t sum) {
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

void Store16(uint8_t* to, size_t value) {
  to[0] = static_cast<uint8_t>(value >> 8);
  to[1] = static_cast<uint8_t>(value);
}

// A packet from the device, after its virtio header. On a wire it would be a header and `count` segments.
class Burst {
 public:
  Burst(const uint8_t* data, size_t size)
      : data_(data), size_(size), segment_(size - kHeaderBytes), payload_(segment_) {
    const auto* offload = reinterpret_cast<const VirtioHeader*>(data);
    if (offload->gso_type == kNoGso || offload->gso_size == 0) return;
    tcp_ = offload->csum_start;
    header_ = tcp_ + (data[kHeaderBytes + tcp_ + 12] >> 4) * size_t{4};
    segment_ = offload->gso_size;
    payload_ = size - kHeaderBytes - header_;
    count_ = std::max<size_t>(1, (payload_ + segment_ - 1) / segment_);
  }

  size_t count() const { return count_; }
  size_t WireBytes(size_t i) const { return header_ + (i == count_ - 1 ? payload_ - i * segment_ : segment_); }

  // Segments [first, first + count) as a separate packet, with correct lengths, sequence, flags and the partial
  // checksum that the kernel completes.
  std::vector<uint8_t> Cut(size_t first, size_t count) const {
    if (count == count_) return {data_, data_ + size_};
    const size_t offset = first * segment_;
    const size_t payload = std::min(payload_ - offset, count * segment_);
    std::vector<uint8_t> cut(data_, data_ + kHeaderBytes + header_);
    const uint8_t* const from = data_ + kHeaderBytes + header_ + offset;
    cut.insert(cut.end(), from, from + payload);
    auto* offload = reinterpret_cast<VirtioHeader*>(cut.data());
    if (count == 1) {
      offload->gso_type = kNoGso;
      offload->gso_size = 0;
    }
    uint8_t* const ip = cut.data() + kHeaderBytes;
    uint8_t* const tcp = ip + tcp_;
    const size_t tcp_bytes = header_ - tcp_ + payload;
    const uint32_t addresses = ip[0] >> 4 == 4 ? SetIpv4(ip, first, payload) : SetIpv6(ip, payload);
    uint32_t sequence = 0;
    std::memcpy(&sequence, tcp + 4, sizeof sequence);
    sequence = htonl(ntohl(sequence) + static_cast<uint32_t>(offset));
    std::memcpy(tcp + 4, &sequence, sizeof sequence);
    if (first + count < count_) tcp[13] &= static_cast<uint8_t>(~0x09);  // FIN and PSH are the last segment's
    if (first > 0) tcp[13] &= static_cast<uint8_t>(~0x80);               // CWR the first's
    Store16(tcp + offload->csum_offset, Fold(addresses + static_cast<uint32_t>(tcp_bytes) + IPPROTO_TCP));
    return cut;
  }

 private:
  // Both functions return the sum of both addresses.
  uint32_t SetIpv4(uint8_t* ip, size_t first, size_t payload) const {
    Store16(ip + 2, header_ + payload);
    Store16(ip + 4, (size_t{ip[4]} << 8 | ip[5]) + first);
    Store16(ip + 10, 0);
    Store16(ip + 10, static_cast<uint16_t>(~Fold(Sum16(ip, (ip[0] & 15) * size_t{4}))));
    return Sum16(ip + 12, 8);
  }
  uint32_t SetIpv6(uint8_t* ip, size_t payload) const {
    Store16(ip + 4, header_ + payload - 40);
    return Sum16(ip + 8, 32);
  }

  const uint8_t* const data_;
  const size_t size_;
  size_t tcp_ = 0, header_ = 0, segment_, payload_, count_ = 1;
};

std::atomic<bool> ended = false;
std::atomic<bool> outage = false;

struct Link {
  double delay_ms = 0, jitter_ms = 0, rate_mbit = 0, loss = 0, reorder = 0, queue_bytes = -1;
};

struct Counters {
  uint64_t packets = 0, bytes = 0, lost = 0, queue_drops = 0, outage_drops = 0, overtook = 0;
};

// One direction of the link, with a thread of its own.
class Direction {
 public:
  Direction(const Link& link, int in, int out, int wake, uint64_t seed)
      : link_(link),
        ns_per_byte_(link.rate_mbit > 0 ? 8000 / link.rate_mbit : 0),
        in_(in),
        out_(out),
        wake_(wake),
        random_(seed) {}

  const Counters& counters() const { return counters_; }

  void Run() {
    prctl(PR_SET_TIMERSLACK, 1);
    setpriority(PRIO_PROCESS, 0, -10);  // a link that waits for a core would behave differently
    std::vector<uint8_t> packet(kMaxPacket);
    while (!ended.load()) {
      for (int i = 0; i < kReadsInTurn; i++) {
        const ssize_t got = read(in_, packet.data(), packet.size());
        if (got <= static_cast<ssize_t>(kHeaderBytes)) break;
        Enter(Burst(packet.data(), static_cast<size_t>(got)), NowNs());
      }
      for (const uint64_t now = NowNs(); !flying_.empty() && flying_.front().due <= now;) {
        const std::vector<uint8_t>& data = flying_.front().data;
        if (write(out_, data.data(), data.size()) < 0 && (errno == EBADF || errno == EBADFD)) return;
        held_ -= data.size();
        flying_.pop_front();
      }
      Wait();
    }
  }

 private:
  struct Flying {
    uint64_t due;
    std::vector<uint8_t> data;
  };

  bool Happens(double percent) { return percent > 0 && unit_(random_) * 100 < percent; }

  // Passes the bottleneck segment by segment; segments without a gap leave as one packet.
  void Enter(const Burst& burst, uint64_t now) {
    if (outage.load(std::memory_order_relaxed)) {
      counters_.outage_drops += burst.count();
      return;
    }
    size_t run = 0, run_at = 0;
    uint64_t run_start = 0, run_done = 0;
    for (size_t i = 0; i <= burst.count(); i++) {
      const uint64_t start = std::max(free_at_, now);
      uint64_t done = start;
      const bool passes = i < burst.count() && Pass(burst.WireBytes(i), now, &done);
      if (run > 0 && (!passes || done - run_start > kMaxRunNs)) {
        Fly(burst.Cut(run_at, run), run_done);
        run = 0;
      }
      if (!passes) continue;
      if (run++ == 0) {
        run_at = i;
        run_start = start;
      }
      run_done = done;
    }
  }

  bool Pass(size_t bytes, uint64_t now, uint64_t* done) {
    const uint64_t start = *done;
    const double queued = ns_per_byte_ > 0 ? static_cast<double>(start - now) / ns_per_byte_ : 0;
    if (held_ > kMaxHeld || (ns_per_byte_ > 0 && queued + static_cast<double>(bytes) > link_.queue_bytes)) {
      counters_.queue_drops++;
      return false;
    }
    *done = start + static_cast<uint64_t>(static_cast<double>(bytes) * ns_per_byte_);
    free_at_ = *done;
    if (Happens(link_.loss)) {
      counters_.lost++;
      return false;
    }
    counters_.packets++;
    counters_.bytes += bytes;
    return true;
  }

  void Fly(std::vector<uint8_t> data, uint64_t sent) {
    uint64_t due = sent + static_cast<uint64_t>((link_.delay_ms + unit_(random_) * link_.jitter_ms) * 1e6);
    if (Happens(link_.reorder)) {
      if (due < last_due_) counters_.overtook++;
    } else {
      due = last_due_ = std::max(due, last_due_);
    }
    held_ += data.size();
    auto before = flying_.end();
    while (before != flying_.begin() && std::prev(before)->due > due) --before;
    flying_.insert(before, {due, std::move(data)});
  }

  void Wait() const {
    std::array<pollfd, 2> until{{{in_, POLLIN, 0}, {wake_, POLLIN, 0}}};
    timespec left{};
    if (!flying_.empty()) {
      const uint64_t now = NowNs(), due = flying_.front().due;
      const uint64_t ns = due > now ? due - now : 0;
      left = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    }
    ppoll(until.data(), until.size(), flying_.empty() ? nullptr : &left, nullptr);
  }

  const Link link_;
  const double ns_per_byte_;
  const int in_, out_, wake_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> unit_{0, 1};
  uint64_t free_at_ = 0;   // when the bottleneck has sent its queue
  uint64_t last_due_ = 0;  // due time of the last in-order packet
  uint64_t held_ = 0;
  std::deque<Flying> flying_;  // sorted by `due`
  Counters counters_;
};

bool Command(std::vector<std::string> words) {
  const pid_t pid = fork();
  if (pid == 0) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::vector<std::string> made;  // namespaces to delete at exit

// Opens a TUN device in a namespace and sets it up.
int OpenTun(const std::string& ns, const std::string& device, const std::string& address, const std::string& mtu) {
  const auto broken = [&](const std::string& what) { Die(what + " in " + ns + ": " + std::strerror(errno)); };
  const int self = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  const int there = open(("/run/netns/" + ns).c_str(), O_RDONLY | O_CLOEXEC);
  if (there < 0 || setns(there, CLONE_NEWNET) < 0) broken("cannot be");
  close(there);
  const int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (tun < 0) broken("/dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  device.copy(request.ifr_name, IFNAMSIZ - 1);
  int header = kHeaderBytes;
  if (ioctl(tun, TUNSETIFF, &request) < 0 || ioctl(tun, TUNSETVNETHDRSZ, &header) < 0 ||
      ioctl(tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) < 0) {
    broken("cannot make " + device);
  }
  // The device's own queue must never drop packets; only the bottleneck may.
  if (!Command({"ip", "link", "set", device, "mtu", mtu, "txqueuelen", "20000", "up"}) ||
      !Command({"ip", "address", "add", address, "dev", device}) || !Command({"ip", "link", "set", "lo", "up"})) {
    broken("cannot configure " + device);
  }
  if (setns(self, CLONE_NEWNET) < 0) broken("cannot return from where I was");
  close(self);
  return tun;
}

void PrintCounters(const Direction& ab, const Direction& ba) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  std::fprintf(stderr, "{\"cpuSeconds\":%.2f", seconds(used.ru_utime) + seconds(used.ru_stime));
  for (const auto& [name, direction] : {std::pair{"ab", &ab}, std::pair{"ba", &ba}}) {
    const Counters& count = direction->counters();
    std::fprintf(
        stderr,
        ",\"%s\":{\"packets\":%ju,\"bytes\":%ju,\"lost\":%ju,\"queueDrops\":%ju,\"outageDrops\":%ju,\"overtook\":%ju}",
        name, uintmax_t{count.packets}, uintmax_t{count.bytes}, uintmax_t{count.lost}, uintmax_t{count.queue_drops},
        uintmax_t{count.outage_drops}, uintmax_t{count.overtook});
  }
  std::fprintf(stderr, "}\n");
}

struct Options {
  std::array<std::string, 2> ns, address{"10.99.0.1/24", "10.99.0.2/24"};
  std::string device = "lem0", mtu = "1500";
  bool create = false;
  double seed = 1, seconds = 900;
  std::array<Link, 2> links;
};

double Number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(value >= 0)) Die("not a number: " + text);
  return value;
}

[[noreturn]] void Usage(FILE* to, int code) {
  std::fputs(kUsage, to);
  std::exit(code);
}

Options Parse(const std::vector<std::string>& words) {
  Options options;
  const auto both = [&](double Link::*which) {
    return [&links = options.links, which](const std::string& value) {
      const size_t colon = value.find(':');
      links[0].*which = Number(value.substr(0, colon));
      links[1].*which = colon == std::string::npos ? links[0].*which : Number(value.substr(colon + 1));
    };
  };
  const auto text = [](std::string* to) { return [to](const std::string& value) { *to = value; }; };
  const auto number = [](double* to) { return [to](const std::string& value) { *to = Number(value); }; };
  const std::map<std::string, std::function<void(const std::string&)>> known{
      {"--a", text(&options.ns[0])},           {"--b", text(&options.ns[1])},
      {"--addr-a", text(&options.address[0])}, {"--addr-b", text(&options.address[1])},
      {"--dev", text(&options.device)},        {"--mtu", text(&options.mtu)},
      {"--rate", both(&Link::rate_mbit)},      {"--queue", both(&Link::queue_bytes)},
      {"--loss", both(&Link::loss)},           {"--delay", both(&Link::delay_ms)},
      {"--jitter", both(&Link::jitter_ms)},    {"--reorder", both(&Link::reorder)},
      {"--seed", number(&options.seed)},       {"--time", number(&options.seconds)}};
  for (size_t i = 0; i < words.size(); i++) {
    if (words[i] == "--help") Usage(stdout, 0);
    if (words[i] == "--create") {
      options.create = true;
      continue;
    }
    const auto option = known.find(words[i]);
    if (option == known.end() || ++i == words.size()) Usage(stderr, 2);
    option->second(words[i]);
  }
  if (options.ns[0].empty() || options.ns[1].empty()) Usage(stderr, 2);
  const double both_delays_ms = options.links[0].delay_ms + options.links[1].delay_ms;
  for (Link& link : options.links) {
    if (link.queue_bytes < 0) link.queue_bytes = std::max(100'000.0, link.rate_mbit * 125 * both_delays_ms);
  }
  return options;
}

// Runs until a signal arrives or the time is over. The signals are blocked.
void Serve(const sigset_t& signals, double seconds) {
  const uint64_t end = NowNs() + static_cast<uint64_t>(seconds * 1e9);
  for (uint64_t now = NowNs(); now < end; now = NowNs()) {
    const timespec left{static_cast<time_t>((end - now) / 1'000'000'000),
                        static_cast<long>((end - now) % 1'000'000'000)};
    const int got = sigtimedwait(&signals, nullptr, &left);
    if (got == SIGUSR1)
      outage.store(!outage.load());
    else if (got > 0)
      return;
  }
  std::fprintf(stderr, "linkem: the time is over\n");
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = Parse({argv + 1, argv + argc});
  sigset_t signals;
  sigemptyset(&signals);
  for (const int each : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals, each);
  sigprocmask(SIG_BLOCK, &signals, nullptr);  // before any thread starts; Serve waits for them
  prctl(PR_SET_PDEATHSIG, SIGTERM);

  if (options.create) {
    std::atexit([] {
      for (const std::string& ns : made) Command({"ip", "netns", "delete", ns});
    });
    for (const std::string& ns : options.ns) {
      if (!Command({"ip", "netns", "add", ns})) Die("cannot make the namespace " + ns);
      made.push_back(ns);
    }
  }
  std::array<int, 2> tun{};
  for (size_t i = 0; i < 2; i++) tun[i] = OpenTun(options.ns[i], options.device, options.address[i], options.mtu);
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const auto seed = static_cast<uint64_t>(options.seed);
  Direction ab(options.links[0], tun[0], tun[1], wake, 2 * seed),
      ba(options.links[1], tun[1], tun[0], wake, 2 * seed + 1);
  std::thread there([&] { ab.Run(); }), back([&] { ba.Run(); });
  std::puts("READY");
  std::fflush(stdout);
  Serve(signals, options.seconds);

  ended.store(true);
  eventfd_write(wake, 1);
  there.join();
  back.join();
  PrintCounters(ab, ba);
  for (const int fd : tun) close(fd);  // closing removes the devices
}
