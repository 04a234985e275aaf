# SPDX-License-Identifier: GPL-2.0-only
# The ends of --mode grpc and thrift, in C++: `make rpc`, where their libraries are.
CXX      ?= g++
RPC_DIR  := user/workloads/rpc
RPC_OUT  := $(B)/rpc
RPC_GEN  := $(GEN)/rpc
RPC_WARN := -Wall -Wextra $(WERROR) -Wno-unused-parameter -Wno-missing-field-initializers
RPC_GRPC_LIBS   = $(shell pkg-config --libs grpc++ protobuf 2>/dev/null || echo -lgrpc++ -lprotobuf)
RPC_THRIFT_LIBS = $(shell pkg-config --libs thrift 2>/dev/null || echo -lthrift)
RPC_GRPC   := $(RPC_GEN)/echo.pb.cc $(RPC_GEN)/echo.grpc.pb.cc
RPC_THRIFT := $(RPC_GEN)/Echo.cpp $(RPC_GEN)/echo_types.cpp
RPC_PROGRAMS := $(RPC_OUT)/ipcstall-grpc $(RPC_OUT)/ipcstall-grpc-O0 $(RPC_OUT)/ipcstall-thrift $(RPC_OUT)/ipcstall-thrift-O0

.PHONY: rpc
rpc: ## build the programs of --mode grpc and --mode thrift if their libraries are installed; else name the missing packages (MISSING=ok: and go on)
	$(Q)CXX='$(CXX)' MAKE='$(MAKE)' MISSING='$(MISSING)' sh $(RPC_DIR)/build $(RPC_OUT)

$(RPC_GRPC) &: $(RPC_DIR)/echo.proto
	$(call say,PROTOC,$<)
	$(Q)mkdir -p $(RPC_GEN)
	$(Q)protoc -I$(RPC_DIR) --cpp_out=$(RPC_GEN) --grpc_out=$(RPC_GEN) --plugin=protoc-gen-grpc=$$(command -v grpc_cpp_plugin) $<
$(RPC_THRIFT) &: $(RPC_DIR)/echo.thrift
	$(call say,THRIFT,$<)
	$(Q)mkdir -p $(RPC_GEN)
	$(Q)thrift --gen cpp:no_skeleton -out $(RPC_GEN) $<

# What the generators write is not ours to mend: its warnings are not shown. -O0 is what the program of that name is for, whatever CXXFLAGS say.
define RPC_OBJECTS
$(RPC_OUT)/obj$(1)/%.o: $(RPC_DIR)/%.cc
	$$(call say,CXX,$$<)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) -std=c++17 -g $(2) $(RPC_WARN) $(HARDEN) $(SAME) -pthread -Iuser -isystem $(RPC_GEN) $(CPPFLAGS) $(CXXFLAGS) $(3) -MMD -MP -c -o $$@ $$<
$(RPC_OUT)/obj$(1)/gen/%.o: $(RPC_GEN)/%.cc
	$$(call say,CXX,$$<)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) -std=c++17 -g $(2) -w $(HARDEN) $(SAME) -pthread -I$(RPC_GEN) $(CPPFLAGS) $(CXXFLAGS) $(3) -c -o $$@ $$<
$(RPC_OUT)/obj$(1)/gen/%.o: $(RPC_GEN)/%.cpp
	$$(call say,CXX,$$<)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) -std=c++17 -g $(2) -w $(HARDEN) $(SAME) -pthread -I$(RPC_GEN) $(CPPFLAGS) $(CXXFLAGS) $(3) -c -o $$@ $$<
$(RPC_OUT)/obj$(1)/grpc_end.o: | $(RPC_GRPC)
$(RPC_OUT)/obj$(1)/thrift_end.o: | $(RPC_THRIFT)
$(RPC_OUT)/ipcstall-grpc$(1): $(addprefix $(RPC_OUT)/obj$(1)/,main.o socket.o grpc_end.o gen/echo.pb.o gen/echo.grpc.pb.o)
	$$(call say,LINK,$$@)
	$$(Q)$$(CXX) -pthread $(ALL_LDFLAGS) -o $$@ $$^ $$(RPC_GRPC_LIBS)
$(RPC_OUT)/ipcstall-thrift$(1): $(addprefix $(RPC_OUT)/obj$(1)/,main.o socket.o thrift_end.o gen/Echo.o gen/echo_types.o)
	$$(call say,LINK,$$@)
	$$(Q)$$(CXX) -pthread $(ALL_LDFLAGS) -o $$@ $$^ $$(RPC_THRIFT_LIBS)
endef
$(eval $(call RPC_OBJECTS,,-O2 $(if $(FORTIFY),-U_FORTIFY_SOURCE $(FORTIFY))))
$(eval $(call RPC_OBJECTS,-O0,,-O0 -U_FORTIFY_SOURCE))
-include $(wildcard $(RPC_OUT)/obj*/*.d)
