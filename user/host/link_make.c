// SPDX-License-Identifier: GPL-2.0-only
/* Runs in the child of link_up(): makes namespaces, devices, addresses, routes and queues. If it
 * fails it just ends, and the kernel removes everything. */
#include "host/link_make.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_bridge.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "host/qdisc.h"
#include "host/rtnl.h"

#define IPV6_MIN_MTU 1280
#define LO_MTU	     65536
#define VETH_MTU     1500
#define NEXT_PERM \
	"run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, " \
	"kernel.apparmor_restrict_unprivileged_userns=0)"

const char *const link_addr4[LINK_SIDES] = { "10.77.0.1", "10.77.0.2" };
const char *const link_addr6[LINK_SIDES] = { "fd77::1", "fd77::2" };

struct maker {
	struct link *l;
	const struct link_spec *s;
	int ctl[LINK_MAX_NS]; /* a socket in each namespace, to talk to its devices with ioctl() */
	uint64_t mtu;	      /* as given, or the device's own */
};

static int write_file(const char *path, const char *fmt, ...)
{
	char text[64];
	va_list ap;
	ssize_t n;
	int fd;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n < 0 ? -1 : 0;
}

/* --- namespaces --- */

static int no_namespace(struct err *e, const char *which)
{
	if (errno == EPERM || errno == EACCES)
		return err_sys(e, EXIT_NO_PERM, NEXT_PERM, "--link: cannot make a %s namespace",
			       which);
	if (errno == ENOSPC || errno == EUSERS)
		return err_resource(e,
				    "--link: cannot make a %s namespace: there are as many as "
				    "allowed; raise sysctl user.max_%s_namespaces",
				    which, strcmp(which, "user") == 0 ? "user" : "net");
	if (errno == EINVAL || errno == ENOSYS)
		return err_feature(e, "--link: this kernel has no %s namespaces; use --link lo",
				   which);
	return err_sys(e, EXIT_NO_RESOURCE, "use --link lo", "--link: cannot make a %s namespace",
		       which);
}

/* Gains only the privilege over the new network namespaces; the ids stay the same. If the kernel
 * refuses to map them (root without CAP_SETFCAP: verify_root_map()), they only look like
 * nobody's. */
static int enter_user_ns(struct link *l, struct err *e)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWUSER))
		return no_namespace(e, "user");
	write_file("/proc/self/setgroups",
		   "deny"); /* a condition for gid_map; absent before 3.19 */
	write_file("/proc/self/uid_map", "%u %u 1", uid, uid);
	write_file("/proc/self/gid_map", "%u %u 1", gid, gid);
	l->user_fd = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	if (l->user_fd < 0)
		return err_sys(e, EXIT_NO_RESOURCE, "mount /proc", "--link: /proc/self/ns/user");
	return 0;
}

/* The first namespace shows whether our own privilege suffices. */
static int unshare_net(struct maker *m, struct err *e)
{
	if (unshare(CLONE_NEWNET) == 0)
		return 0;
	if (errno != EPERM || m->l->user_fd >= 0)
		return no_namespace(e, "network");
	if (enter_user_ns(m->l, e))
		return -1;
	return unshare(CLONE_NEWNET) ? no_namespace(e, "network") : 0;
}

/* /proc/sys/net shows the namespace of the process that opens it. A switch must not send IPv6 of
 * its own into its links. */
static int set_sysctls(struct maker *m, bool host, struct err *e)
{
	m->l->has_v6 = m->mtu >= IPV6_MIN_MTU && access("/proc/sys/net/ipv6/conf", F_OK) == 0;
	/* Best effort: less chatter on the link, and link-local addresses usable at once. */
	write_file("/proc/sys/net/ipv6/conf/default/accept_dad", "0");
	write_file("/proc/sys/net/ipv6/conf/default/router_solicitations", "0");
	write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", host ? "0" : "1");
	write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", host ? "0" : "1");
	if (!host || !m->s->pingpong)
		return 0;
	if (write_file("/proc/sys/net/ipv4/tcp_pingpong_thresh", "%u",
		       (unsigned int)m->s->pingpong) == 0)
		return 0;
	if (errno == ENOENT)
		return err_feature(e, "--link: this kernel has no net.ipv4.tcp_pingpong_thresh in "
				      "a namespace (it came with Linux 6.7 or so); take a newer "
				      "kernel or leave out pingpong=");
	return err_sys(e, EXIT_NO_PERM,
		       "leave out pingpong=", "--link: net.ipv4.tcp_pingpong_thresh");
}

static int new_ns(struct maker *m, int i, struct err *e)
{
	if (unshare_net(m, e))
		return -1;
	m->l->ns_fd[i] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	m->l->nl_fd[i] = rtnl_open();
	m->ctl[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (m->l->ns_fd[i] < 0 || m->l->nl_fd[i] < 0 || m->ctl[i] < 0)
		return err_sys(e, EXIT_NO_RESOURCE, "raise the limit of open files",
			       "--link: a namespace's descriptors");
	return set_sysctls(m, i != LINK_SWITCH, e);
}

/* --- devices --- */

static int refused(struct err *e, const char *what, const char *why)
{
	if (errno == EOPNOTSUPP)
		return err_feature(
			e,
			"--link: this kernel cannot make %s (%s); load the module or use --link lo",
			what, *why ? why : strerror(errno));
	return err_sys(e, EXIT_NO_RESOURCE, "check the values given to --link", "--link: %s%s%s",
		       what, *why ? ": " : "", why);
}

static int call(int nl, struct rtnl_req *r, const char *what, struct err *e)
{
	char why[128];

	return rtnl_call(nl, r, why, sizeof(why)) ? refused(e, what, why) : 0;
}

static void put_end(struct rtnl_req *r, const char *name, int host, uint64_t mtu)
{
	unsigned char mac[6] = { 2, 0, 0, 0x77, 0, (unsigned char)(host + 1) };

	rtnl_put_str(r, IFLA_IFNAME, name);
	rtnl_put_u32(r, IFLA_MTU, (uint32_t)mtu);
	if (host >= 0)
		rtnl_put(r, IFLA_ADDRESS, mac, sizeof(mac));
}

/* A veth pair from the host in namespace `host` (its eth0) to `name`, number `index`, in namespace
 * `to`. The far end is a host too when far >= 0. */
static int add_veth(struct maker *m, int host, int to, const char *name, int index, int far,
		    struct err *e)
{
	struct ifinfomsg near_end = { .ifi_index = LINK_HOST_INDEX + host },
		far_end = { .ifi_index = index };
	struct rtattr *info, *data, *peer;
	struct rtnl_req r;

	rtnl_begin(&r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &near_end, sizeof(near_end));
	put_end(&r, "eth0", host, m->mtu);
	info = rtnl_nest(&r, IFLA_LINKINFO);
	rtnl_put_str(&r, IFLA_INFO_KIND, "veth");
	data = rtnl_nest(&r, IFLA_INFO_DATA);
	peer = rtnl_nest(&r, VETH_INFO_PEER);
	rtnl_raw(&r, &far_end, sizeof(far_end));
	put_end(&r, name, far, m->mtu);
	rtnl_put_u32(&r, IFLA_NET_NS_FD, (uint32_t)m->l->ns_fd[to]);
	rtnl_nest_end(&r, peer);
	rtnl_nest_end(&r, data);
	rtnl_nest_end(&r, info);
	return call(m->l->nl_fd[host], &r, "a veth pair", e);
}

static int add_bridge(struct maker *m, struct err *e)
{
	struct ifinfomsg i = { .ifi_index = LINK_BRIDGE_INDEX };
	struct rtattr *info, *data;
	struct rtnl_req r;
	uint8_t off = 0;

	rtnl_begin(&r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &i, sizeof(i));
	rtnl_put_str(&r, IFLA_IFNAME, "br0");
	info = rtnl_nest(&r, IFLA_LINKINFO);
	rtnl_put_str(&r, IFLA_INFO_KIND, "bridge");
	data = rtnl_nest(&r, IFLA_INFO_DATA);
	rtnl_put(&r, IFLA_BR_MCAST_SNOOPING, &off,
		 sizeof(off)); /* flood: neighbour discovery needs no querier */
	rtnl_nest_end(&r, data);
	rtnl_nest_end(&r, info);
	return call(m->l->nl_fd[LINK_SWITCH], &r, "a bridge", e);
}

static int set_up(int nl, int index, int master, uint64_t mtu, struct err *e)
{
	struct ifinfomsg i = { .ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
	struct rtnl_req r;

	rtnl_begin(&r, RTM_NEWLINK, 0, &i, sizeof(i));
	if (master)
		rtnl_put_u32(&r, IFLA_MASTER, (uint32_t)master);
	if (mtu)
		rtnl_put_u32(&r, IFLA_MTU, (uint32_t)mtu);
	return call(nl, &r, "a device up", e);
}

/* --- offloads --- */

static int ethtool(int ctl, const char *dev, uint32_t cmd, uint32_t *value)
{
	struct ethtool_value v = { .cmd = cmd, .data = *value };
	struct ifreq q = { .ifr_data = (void *)&v };
	int rc;

	strncpy(q.ifr_name, dev, sizeof(q.ifr_name) - 1);
	rc = ioctl(ctl, SIOCETHTOOL, &q);
	*value = v.data;
	return rc;
}

/* Set a feature and read it back: the kernel may keep one that another feature needs
 * (netdev_fix_features()). */
static int set_offload(int ctl, const char *dev, const char *key, uint64_t want, uint32_t set,
		       uint32_t get, struct err *e)
{
	uint32_t on = want == LINK_ON, now = on;

	if (want == LINK_UNSET)
		return 0;
	if (ethtool(ctl, dev, set, &now) || ethtool(ctl, dev, get, &now))
		return err_sys(e, EXIT_NO_FEATURE, "leave that key out", "--link: %s of %s", key,
			       dev);
	if (!!now != on)
		return err_feature(e,
				   "--link: %s of %s: the device keeps it %s; leave that key out",
				   key, dev, now ? "on" : "off");
	return 0;
}

static int set_offloads(const struct maker *m, int ns, const char *dev, struct err *e)
{
	const struct link_spec *s = m->s;
	uint64_t gso = s->gso ? s->gso : s->tso, gro = s->gro ? s->gro : s->tso;
	int ctl = m->ctl[ns];

	if (set_offload(ctl, dev, "tso", s->tso, ETHTOOL_STSO, ETHTOOL_GTSO, e) ||
	    set_offload(ctl, dev, "gso", gso, ETHTOOL_SGSO, ETHTOOL_GGSO, e))
		return -1;
	return set_offload(ctl, dev, "gro", gro, ETHTOOL_SGRO, ETHTOOL_GGRO, e);
}

/* --- addresses, neighbours, routes --- */

struct net_addr {
	int family;
	uint8_t len, bits; /* of the address, of its network */
	uint8_t b[16];
};

static struct net_addr host_addr(int family, int host)
{
	struct net_addr a = { .family = family, .len = family == AF_INET ? 4 : 16,
		.bits = family == AF_INET ? 24 : 64 };

	inet_pton(family, family == AF_INET ? link_addr4[host] : link_addr6[host], a.b);
	return a;
}

static int add_addr(int nl, int index, const struct net_addr *a, bool own_route, struct err *e)
{
	struct ifaddrmsg m = { .ifa_family = (uint8_t)a->family, .ifa_prefixlen = a->bits,
		.ifa_index = (uint32_t)index };
	struct rtnl_req r;

	rtnl_begin(&r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof(m));
	rtnl_put(&r, IFA_LOCAL, a->b, a->len);
	rtnl_put(&r, IFA_ADDRESS, a->b, a->len);
	rtnl_put_u32(&r, IFA_FLAGS,
		     IFA_F_PERMANENT | IFA_F_NODAD | (own_route ? IFA_F_NOPREFIXROUTE : 0U));
	return call(nl, &r, "an address", e);
}

/* The peer's hardware address is set here, so no neighbour is solicited on the link, and no such
 * packet can be lost. */
static int add_neighbour(int nl, int index, const struct net_addr *peer, int host, struct err *e)
{
	struct ndmsg m = { .ndm_family = (uint8_t)peer->family, .ndm_ifindex = index,
		.ndm_state = NUD_PERMANENT };
	unsigned char mac[6] = { 2, 0, 0, 0x77, 0, (unsigned char)(host + 1) };
	struct rtnl_req r;

	rtnl_begin(&r, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, &m, sizeof(m));
	rtnl_put(&r, NDA_DST, peer->b, peer->len);
	rtnl_put(&r, NDA_LLADDR, mac, sizeof(mac));
	return call(nl, &r, "a neighbour", e);
}

/* Does the spec set a metric of a route? */
static bool has_metrics(const struct link_spec *s)
{
	return s->quickack == LINK_ON || s->cwnd;
}

/* tcp_in_quickack_mode() reads RTAX_QUICKACK of the route back to the sender; tcp_init_metrics()
 * takes a locked RTAX_CWND as the window's clamp. */
static void put_metrics(struct rtnl_req *r, const struct link_spec *s)
{
	struct rtattr *metrics = rtnl_nest(r, RTA_METRICS);

	if (s->quickack == LINK_ON)
		rtnl_put_u32(r, RTAX_QUICKACK, 1);
	if (s->cwnd) {
		rtnl_put_u32(r, RTAX_LOCK, 1U << RTAX_CWND);
		rtnl_put_u32(r, RTAX_CWND, (uint32_t)s->cwnd);
	}
	rtnl_nest_end(r, metrics);
}

static int add_own_route(int nl, struct rtmsg m, const struct link_spec *s, int index,
			 const struct net_addr *to, struct err *e)
{
	struct rtnl_req r;

	m.rtm_family = (uint8_t)to->family;
	m.rtm_dst_len = to->bits;
	m.rtm_protocol = RTPROT_KERNEL;
	rtnl_begin(&r, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &m, sizeof(m));
	rtnl_put(&r, RTA_DST, to->b, to->len);
	rtnl_put_u32(&r, RTA_OIF, (uint32_t)index);
	put_metrics(&r, s);
	return call(nl, &r, "a route with metrics", e);
}

static int add_net_route(int nl, const struct link_spec *s, int index, struct net_addr a,
			 struct err *e)
{
	struct rtmsg m = { .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_UNICAST,
		.rtm_scope = RT_SCOPE_LINK };

	memset(a.b + a.bits / 8, 0, a.len - a.bits / 8U);
	return add_own_route(nl, m, s, index, &a, e);
}

static int address_host(struct maker *m, int host, int family, struct err *e)
{
	struct net_addr own = host_addr(family, host), peer = host_addr(family, 1 - host);
	bool own_route = has_metrics(m->s);
	int nl = m->l->nl_fd[host], index = LINK_HOST_INDEX + host;

	if (add_addr(nl, index, &own, own_route, e) || add_neighbour(nl, index, &peer, 1 - host, e))
		return -1;
	return own_route ? add_net_route(nl, m->s, index, own, e) : 0;
}

/* --- the kinds --- */

struct awaited {
	int index;
	bool is_up;
};

static void read_operstate(const struct nlmsghdr *n, void *arg)
{
	const struct ifinfomsg *i = NLMSG_DATA(n);
	const struct rtattr *a =
		rtnl_attr(IFLA_RTA(i), (int)NLMSG_PAYLOAD(n, sizeof(*i)), IFLA_OPERSTATE);
	struct awaited *w = arg;

	if (n->nlmsg_type == RTM_NEWLINK && i->ifi_index == w->index && a)
		w->is_up = *(const uint8_t *)RTA_DATA(a) == IF_OPER_UP;
}

static bool is_operational(int nl, int index)
{
	struct ifinfomsg i = { .ifi_index = index };
	struct awaited w = { .index = index };
	struct rtnl_req r;

	rtnl_begin(&r, RTM_GETLINK, 0, &i, sizeof(i));
	return rtnl_dump(nl, &r, read_operstate, &w) == 0 && w.is_up;
}

/* The end of a veth pair that was raised first gets its carrier when the other end comes up, and
 * its queue a moment later, from a work item (linkwatch_do_dev()). Until then it silently drops
 * packets. The work item holds the rtnl lock from the change of state until the queue is in place.
 * So after the new state has been seen, a request that takes the lock (raising the device once
 * more) returns only when the queue is in place. */
static int await(int nl, int index, struct err *e)
{
	const struct timespec pause = { .tv_nsec = 500000 };

	for (int i = 0; i < 6000; i++) {
		if (is_operational(nl, index))
			return set_up(nl, index, 0, 0, e);
		nanosleep(&pause, NULL);
	}
	return err_resource(
		e,
		"--link: the link has no carrier after 3 s; the machine is overloaded, try again");
}

static int shape(struct maker *m, int ns, int index, unsigned int parts, struct err *e)
{
	return qdisc_setup(m->l->nl_fd[ns], index, m->s, parts, m->mtu, e);
}

static int raise_host(struct maker *m, int host, unsigned int parts, struct err *e)
{
	int nl = m->l->nl_fd[host];

	if (set_offloads(m, host, "eth0", e) || shape(m, host, LINK_HOST_INDEX + host, parts, e))
		return -1;
	return set_up(nl, LINK_LO_INDEX, 0, 0, e) ? -1
						  : set_up(nl, LINK_HOST_INDEX + host, 0, 0, e);
}

static int raise_hosts(struct maker *m, unsigned int parts, struct err *e)
{
	for (int host = 0; host < LINK_SIDES; host++)
		if (raise_host(m, host, parts, e))
			return -1;
	return 0;
}

static int address_hosts(struct maker *m, struct err *e)
{
	for (int host = 0; host < LINK_SIDES; host++) {
		if (await(m->l->nl_fd[host], LINK_HOST_INDEX + host, e) ||
		    address_host(m, host, AF_INET, e))
			return -1;
		if (m->l->has_v6 && address_host(m, host, AF_INET6, e))
			return -1;
	}
	return 0;
}

static int make_veth(struct maker *m, struct err *e)
{
	if (add_veth(m, LINK_CLIENT, LINK_SERVER, "eth0", LINK_HOST_INDEX + LINK_SERVER,
		     LINK_SERVER, e))
		return -1;
	return raise_hosts(m, QDISC_WIRE | QDISC_HOST, e) ? -1 : address_hosts(m, e);
}

/* Delay and loss of the wire are in the switch, behind the host's rate limit. So only the host's
 * device fills the host's queue, as on a real network, and packets on the wire do not count against
 * the sender's send buffer. */
static int add_port(struct maker *m, int host, struct err *e)
{
	char name[] = { 'p', 'o', 'r', 't', (char)('0' + host), '\0' };
	int index = LINK_PORT_INDEX + host;

	if (add_veth(m, host, LINK_SWITCH, name, index, -1, e) ||
	    set_offloads(m, LINK_SWITCH, name, e))
		return -1;
	return shape(m, LINK_SWITCH, index, QDISC_WIRE, e);
}

/* Raised last, when the hosts are up, so that nothing is lost, and counted as lost, before the link
 * is in use. */
static int raise_switch(int nl, struct err *e)
{
	if (set_up(nl, LINK_BRIDGE_INDEX, 0, 0, e))
		return -1;
	for (int port = LINK_PORT_INDEX; port < LINK_PORT_INDEX + LINK_SIDES; port++)
		if (set_up(nl, port, LINK_BRIDGE_INDEX, 0, e) || await(nl, port, e))
			return -1;
	return 0;
}

static int make_bridge(struct maker *m, struct err *e)
{
	if (add_bridge(m, e) || add_port(m, LINK_CLIENT, e) || add_port(m, LINK_SERVER, e))
		return -1;
	if (raise_hosts(m, QDISC_HOST, e) || raise_switch(m->l->nl_fd[LINK_SWITCH], e))
		return -1;
	return address_hosts(m, e);
}

/* The kernel's own route to ::1 has metric 0, which none of ours can have or beat
 * (IP6_RT_PRIO_USER), so remove it. */
static int drop_route_to_lo6(int nl, const struct rtmsg *like, const struct net_addr *to,
			     struct err *e)
{
	struct rtmsg m = *like;
	struct rtnl_req r;

	m.rtm_family = AF_INET6;
	m.rtm_dst_len = to->bits;
	rtnl_begin(&r, RTM_DELROUTE, 0, &m, sizeof(m));
	rtnl_put(&r, RTA_DST, to->b, to->len);
	return call(nl, &r, "a route with metrics", e);
}

/* The addresses of lo have their routes in the table "local". */
static int route_lo(struct maker *m, struct err *e)
{
	struct rtmsg r = { .rtm_table = RT_TABLE_LOCAL, .rtm_type = RTN_LOCAL,
		.rtm_scope = RT_SCOPE_HOST };
	struct net_addr v4 = { .family = AF_INET, .len = 4, .bits = 32, .b = { 127, 0, 0, 1 } };
	struct net_addr v6 = { .family = AF_INET6, .len = 16, .bits = 128, .b = { [15] = 1 } };
	int nl = m->l->nl_fd[0];

	if (add_own_route(nl, r, m->s, LINK_LO_INDEX, &v4, e))
		return -1;
	if (!m->l->has_v6)
		return 0;
	return drop_route_to_lo6(nl, &r, &v6, e)
		       ? -1
		       : add_own_route(nl, r, m->s, LINK_LO_INDEX, &v6, e);
}

static int make_lo(struct maker *m, struct err *e)
{
	if (set_offloads(m, 0, "lo", e) || set_up(m->l->nl_fd[0], LINK_LO_INDEX, 0, m->mtu, e))
		return -1;
	if (shape(m, 0, LINK_LO_INDEX, QDISC_WIRE | QDISC_HOST, e))
		return -1;
	return has_metrics(m->s) ? route_lo(m, e) : 0;
}

int link_make(struct link *l, struct err *e)
{
	static int (*const make[])(struct maker *, struct err *) = {
		[LINK_LO] = make_lo, [LINK_VETH] = make_veth, [LINK_BRIDGE] = make_bridge,
	};
	struct maker m = { .l = l, .s = &l->spec };

	m.mtu = l->spec.mtu ? l->spec.mtu : l->spec.kind == LINK_LO ? LO_MTU : VETH_MTU;
	for (int i = 0; i < link_ns_count(&l->spec); i++)
		if (new_ns(&m, i, e))
			return -1;
	return make[l->spec.kind](&m, e);
}
