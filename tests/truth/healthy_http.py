# SPDX-License-Identifier: GPL-2.0-only
"""HTTP servers and clients that do nothing wrong. Each closes its connection, or writes an answer in one piece or with TCP_NODELAY."""
import os
import sys

from truth import Skip, go, harness, healthy, java, lang, need, ports, which

NGINX = """
daemon off; worker_processes 1; pid {dir}/nginx.pid; error_log {dir}/error.log; events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {dir}/b; proxy_temp_path {dir}/p; fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
keepalive_requests 100000; server {{ listen 127.0.0.1:{port}{tls}; root {dir}/www; {more} }} }}
"""


def page(box, size=1000):
    os.makedirs(box.path("www"), exist_ok=True)
    with open(box.path("www/page"), "wb") as f:
        f.write(os.urandom(size))
    os.chmod(box.path("www"), 0o755)
    return box.path("www")


def nginx(box, size=1000, tls="", more="", port=None):
    program = need("nginx")
    page(box, size)
    port = port or harness.free_port()
    box.serve([program, "-p", box.dir, "-e", box.path("error.log"), "-c", box.write(f"nginx{port}.conf", NGINX.format(dir=box.dir, port=port, tls=tls, more=more))], port)
    return port


def url(port, page="page"):
    return f"http://127.0.0.1:{port}/{page}"


def curl(box, port, times, *options):
    """So many requests on one connection."""
    for name in ["/dev/null"]:
        box.do([need("curl"), "-sS", *options, *sum((["-o", name, url(port)] for _ in range(times)), [])])


def each(box, port, times, *options):
    """A connection for each request."""
    curl(box, port, times, "--http1.0", "-H", "Connection: close", *options)


def serves(box, argv, client=each, times=100, **how):
    port = harness.free_port()
    box.serve([a.replace("{port}", str(port)) for a in argv], port, log="server.log", **how)
    trace = box.attach("-a", "-P", str(port))
    client(box, port, times)
    return trace.end()


@healthy("nginx-keepalive")
def nginx_keepalive(box):
    """nginx answers 500 requests of curl on one connection: headers and body in one writev()."""
    port = nginx(box)
    trace = box.attach("-a", "-P", str(port))
    curl(box, port, 500)
    return trace.end()


@healthy("nginx-wrk")
def nginx_wrk(box):
    """wrk asks nginx on 8 connections for a second, as fast as both can."""
    program, port = need("wrk"), nginx(box)
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-t1", "-c8", "-d1s", url(port)])
    return trace.end()


@healthy("nginx-go-client")
def nginx_go(box):
    """Go's net/http client reads, gets EAGAIN, waits in epoll, reads: 300 requests on one connection."""
    client, port = go("http"), nginx(box)
    trace = box.attach("-a", "-P", str(port))
    box.do([client, "get", url(port), "300"])
    return trace.end()


@healthy("nginx-tls")
def nginx_tls(box):
    """HTTPS: 100 requests on one connection of curl."""
    need("openssl")
    certificate(box)
    port = nginx(box, tls=" ssl", more=f"ssl_certificate {box.path('cert.pem')}; ssl_certificate_key {box.path('key.pem')};")
    trace = box.attach("-a", "-P", str(port))
    box.do([need("curl"), "-sSk", *sum((["-o", "/dev/null", f"https://127.0.0.1:{port}/page"] for _ in range(100)), [])])
    return trace.end()


def certificate(box):
    box.do(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", box.path("key.pem"), "-out",
            box.path("cert.pem"), "-days", "2", "-subj", "/CN=localhost"])


@healthy("nginx-large-file")
def nginx_large(box):
    """64 MB from nginx to curl, which reads as fast as it can: a bulk stream that its ends' CPUs limit."""
    port = nginx(box, 64 << 20)
    trace = box.attach("-a", "-P", str(port))
    curl(box, port, 1)
    return trace.end()


@healthy("lighttpd-ab")
def lighttpd(box):
    """ab asks lighttpd 500 times, a connection each."""
    program = need("lighttpd", "ab")
    port = harness.free_port()
    conf = f'server.document-root = "{page(box)}"\nserver.port = {port}\nserver.bind = "127.0.0.1"\nserver.modules = ()\n'
    box.serve([program[0], "-D", "-f", box.write("lighttpd.conf", conf)], port)
    trace = box.attach("-a", "-P", str(port))
    box.do([program[1], "-q", "-n", "500", "-c", "4", url(port)])
    return trace.end()


@healthy("apache-ab-keepalive")
def apache(box):
    """ab -k asks Apache 500 times on four connections; its listener has TCP_DEFER_ACCEPT, so that a first read finds data at once."""
    program = need("apache2", "ab")
    port, modules = harness.free_port(), "/usr/lib/apache2/modules"
    conf = f"""ServerRoot {box.dir}
PidFile {box.dir}/pid
Listen 127.0.0.1:{port}
ServerName localhost
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
DocumentRoot {page(box)}
ErrorLog {box.dir}/error.log
"""
    box.serve([program[0], "-D", "FOREGROUND", "-f", box.write("apache.conf", conf)], port)
    trace = box.attach("-a", "-P", str(port))
    box.do([program[1], "-q", "-k", "-n", "500", "-c", "4", url(port)])
    return trace.end()


@healthy("haproxy-nginx")
def haproxy(box):
    """curl asks haproxy 200 times on one connection, which asks nginx."""
    (inner, port), program = ports(), need("haproxy")
    nginx(box, port=inner)
    conf = f"""defaults
 mode http
 timeout connect 5s
 timeout client 5s
 timeout server 5s
frontend f
 bind 127.0.0.1:{port}
 default_backend b
backend b
 server s 127.0.0.1:{inner}
"""
    box.serve([program, "-db", "-f", box.write("haproxy.conf", conf)], port)
    trace = box.attach("-a", "-P", f"{inner}-{port}")
    curl(box, port, 200)
    return trace.end()


@healthy("tinyproxy-nginx")
def tinyproxy(box):
    """curl asks nginx through tinyproxy, a connection each: 60 requests."""
    (inner, port), program = ports(), need("tinyproxy")
    nginx(box, port=inner)
    box.serve([program, "-d", "-c", box.write("tinyproxy.conf", f"Port {port}\nListen 127.0.0.1\nTimeout 20\nMaxClients 20\nAllow 127.0.0.1\n")], port)
    trace = box.attach("-a", "-P", f"{inner}-{port}")
    each(box, inner, 60, "-x", f"http://127.0.0.1:{port}")
    return trace.end()


@healthy("varnish-nginx")
def varnish(box):
    """varnish answers 300 requests of curl on one connection from its cache."""
    program, inner, port = need("varnishd"), nginx(box), harness.free_port()
    box.serve([program, "-F", "-a", f"127.0.0.1:{port}", "-b", f"127.0.0.1:{inner}", "-n", box.path("varnish"), "-s", "malloc,16m"], port)
    trace = box.attach("-a", "-P", str(port))
    curl(box, port, 300)
    return trace.end()


@healthy("python-http-close")
def python_http(box):
    """python3 -m http.server writes headers and body apart, and closes: the FIN takes the body with it."""
    return serves(box, [sys.executable, "-m", "http.server", "--protocol", "HTTP/1.0", "--bind", "127.0.0.1", "-d", page(box), "{port}"])


@healthy("gunicorn-keepalive")
def gunicorn(box):
    """gunicorn with one worker: each answer closes its connection."""
    program = need("gunicorn")
    box.write("app.py", "def app(q, start):\n    start('200 OK', [('Content-Length', '1000')])\n    return [b'x' * 1000]\n")
    return serves(box, [program, "--chdir", box.dir, "-b", "127.0.0.1:{port}", "app:app"])


@healthy("go-http-keepalive")
def go_http(box):
    """Go's net/http server and curl, 300 requests on one connection. Go listens with MPTCP, and sets TCP_NODELAY."""
    return serves(box, [go("http"), "serve", "{port}"], client=curl, times=300)


@healthy("node-http-keepalive")
def node_http(box):
    """Node's http server and curl, 300 requests on one connection: its server sets TCP_NODELAY."""
    return serves(box, [need("node"), lang("http.js"), "{port}"], client=curl, times=300)


@healthy("java-http-nodelay")
def java_http(box):
    """Java's HttpServer, told to set TCP_NODELAY: headers and body go at once, in two pieces."""
    argv = java("Http")
    return serves(box, [argv[0], "-Dsun.net.httpserver.nodelay=true", *argv[1:], "{port}"], client=curl, times=200)


@healthy("ruby-webrick-close")
def ruby_http(box):
    """Ruby's WEBrick and curl, a connection each."""
    return serves(box, [need("ruby"), lang("http.rb"), "{port}"])


@healthy("php-server-close")
def php_http(box):
    """PHP's own server and curl, a connection each."""
    return serves(box, [need("php"), "-S", "127.0.0.1:{port}", lang("http.php")])


@healthy("perl-http-close")
def perl_http(box):
    """Perl's HTTP::Daemon and curl, a connection each."""
    return serves(box, [need("perl"), lang("http.pl"), "{port}"])


@healthy("erlang-inets-keepalive")
def erlang_http(box):
    """Erlang's inets and curl, a connection each."""
    code = f'application:ensure_all_started(inets), inets:start(httpd, [{{port, {{port}}}}, {{bind_address, {{127,0,0,1}}}}, {{server_name, "t"}}, ' \
           f'{{server_root, "{box.dir}"}}, {{document_root, "{page(box)}"}}]), receive stop -> ok end.'
    return serves(box, [need("erl"), "-noshell", "-eval", code], times=60)


@healthy("busybox-wget")
def busybox(box):
    """busybox httpd and wget, a connection each: 30 requests."""
    program = need("busybox")
    if "httpd" not in os.popen(f"{program} --list").read().split():
        raise Skip("this busybox has no httpd")
    return serves(box, [program, "httpd", "-f", "-p", "127.0.0.1:{port}", "-h", page(box)],
                  client=lambda box, port, times: box.do([need("wget"), "-q", "-O", "/dev/null", *[url(port)] * times]), times=30)


@healthy("nginx-perl-client")
def perl_client(box):
    """Perl's HTTP::Tiny asks nginx 200 times, on one connection."""
    program, port = need("perl"), nginx(box)
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-MHTTP::Tiny", "-e", f"my $h = HTTP::Tiny->new; $h->get('{url(port)}')->{{success}} or die for 1 .. 200"])
    return trace.end()


@healthy("nginx-ruby-client")
def ruby_client(box):
    """Ruby's net/http asks nginx 200 times, on one connection."""
    program, port = need("ruby"), nginx(box)
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-rnet/http", "-e", f"Net::HTTP.start('127.0.0.1', {port}) {{ |h| 200.times {{ h.get('/page') }} }}"])
    return trace.end()


@healthy("nginx-php-client")
def php_client(box):
    """PHP's file_get_contents() asks nginx 100 times, a connection each."""
    program, port = need("php"), nginx(box)
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-r", f"for ($i = 0; $i < 100; $i++) file_get_contents('{url(port)}');"])
    return trace.end()


@healthy("nginx-lua-client")
def lua_client(box):
    """LuaSocket asks nginx 100 times, a connection each."""
    program, port = which("lua5.4") or need("lua"), nginx(box)
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-e", f"local h = require('socket.http') for i = 1, 100 do assert(h.request('{url(port)}')) end"])
    return trace.end()
